package tollbooth.telemetry.micrometer;

import java.util.Map;
import tollbooth.telemetry.contract.DeadBackendContract;

/** The exporter as Spring sets it up, with a backend that takes nothing. */
class DeadBackendTest extends DeadBackendContract {

  @Override
  protected Map<String, String> properties(String backend) {
    return Map.of(
        "management.tracing.sampling.probability", "1.0",
        "management.opentelemetry.tracing.export.otlp.endpoint", backend + "/v1/traces",
        "management.opentelemetry.tracing.export.otlp.timeout", "4s",
        // One batch, so that what is left takes one timeout at the end, not five.
        "management.opentelemetry.tracing.export.max-batch-size", "2048");
  }
}
