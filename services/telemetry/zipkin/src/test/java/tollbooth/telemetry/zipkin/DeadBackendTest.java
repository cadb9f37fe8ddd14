package tollbooth.telemetry.zipkin;

import java.util.Map;
import tollbooth.telemetry.contract.DeadBackendContract;

/** Zipkin's reporter as Spring sets it up, with a backend that takes nothing. */
class DeadBackendTest extends DeadBackendContract {

  @Override
  protected Map<String, String> properties(String backend) {
    return Map.of(
        "management.tracing.sampling.probability",
        "1.0",
        "management.tracing.export.zipkin.endpoint",
        backend + "/api/v2/spans");
  }
}
