package tollbooth.telemetry.zipkin.grpc;

import brave.handler.MutableSpan;
import brave.test.TestSpanHandler;
import java.util.List;
import java.util.Map;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.contract.RecordedSpan;

/** The spans that Micrometer's observations of gRPC make, as Brave hands them over. */
class GrpcTracingTest extends GrpcTracingContract {

  private final TestSpanHandler spans = new TestSpanHandler();

  @Override
  protected Map<String, Object> beans() {
    return Map.of("testSpanHandler", spans);
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of(
        "spring.task.execution.propagate-context", "true",
        "management.tracing.sampling.probability", "1.0",
        "management.tracing.export.zipkin.enabled", "false");
  }

  @Override
  protected List<RecordedSpan> recorded() {
    return spans.spans().stream().map(GrpcTracingTest::recorded).toList();
  }

  @Override
  protected void forget() {
    spans.clear();
  }

  private static RecordedSpan recorded(MutableSpan span) {
    return new RecordedSpan(
        span.traceId(), span.id(), span.parentId(), String.valueOf(span.kind()));
  }
}
