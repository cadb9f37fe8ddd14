package tollbooth.telemetry.manual;

import java.util.Map;
import tollbooth.telemetry.contract.DeadBackendContract;

/** The SDK as its variables configure it, with a backend that takes nothing. */
class DeadBackendTest extends DeadBackendContract {

  @Override
  protected Map<String, String> properties(String backend) {
    return Map.of(
        "otel.metrics.exporter", "none",
        "otel.logs.exporter", "none",
        "otel.exporter.otlp.protocol", "grpc",
        "otel.exporter.otlp.endpoint", backend,
        "otel.exporter.otlp.timeout", "4000",
        // One batch, so that what is left takes one timeout at the end, not five.
        "otel.bsp.max.export.batch.size", "2048",
        "otel.exporter.otlp.compression", "gzip");
  }
}
