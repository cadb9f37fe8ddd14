package tollbooth.telemetry.streaming.spring;

import java.util.Map;
import tollbooth.telemetry.contract.DeadBackendContract;

/** The tracer with a backend that takes nothing. */
class DeadBackendTest extends DeadBackendContract {

  @Override
  protected Map<String, String> properties(String backend) {
    return Map.of("otel.exporter.otlp.endpoint", backend);
  }
}
