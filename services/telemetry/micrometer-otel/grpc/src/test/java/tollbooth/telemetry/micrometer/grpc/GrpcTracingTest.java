package tollbooth.telemetry.micrometer.grpc;

import java.util.List;
import java.util.Map;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.contract.OpenTelemetrySpans;
import tollbooth.telemetry.contract.RecordedSpan;

/** The spans that Micrometer's observations of gRPC make, as the SDK hands them over. */
class GrpcTracingTest extends GrpcTracingContract {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @Override
  protected Map<String, Object> beans() {
    return Map.of("keepingSpans", spans.keeping());
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of(
        "spring.task.execution.propagate-context", "true",
        "management.tracing.sampling.probability", "1.0");
  }

  @Override
  protected List<RecordedSpan> recorded() {
    return spans.recorded();
  }

  @Override
  protected void forget() {
    spans.forget();
  }
}
