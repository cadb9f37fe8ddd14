package tollbooth.telemetry.micrometer.grpc;

import java.util.Map;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.contract.OpenTelemetrySpans;

/** The spans that Micrometer's observations of gRPC make with OpenTelemetry's SDK. */
class GrpcTracingTest extends GrpcTracingContract {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @Override
  protected OpenTelemetrySpans spans() {
    return spans;
  }

  @Override
  protected Map<String, Object> beans() {
    return Map.of("keepingSpans", spans.keeping());
  }

  @Override
  protected Map<String, String> properties() {
    return IN_MEMORY;
  }
}
