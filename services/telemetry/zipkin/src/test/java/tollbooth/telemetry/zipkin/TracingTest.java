package tollbooth.telemetry.zipkin;

import static org.assertj.core.api.Assertions.assertThat;

import brave.Span.Kind;
import brave.handler.MutableSpan;
import brave.test.TestSpanHandler;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.contract.RecordedSpan;
import tollbooth.telemetry.contract.TracingContract;

/** The spans that Spring's observations make, as Brave hands them over. */
class TracingTest extends TracingContract {

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
    return spans.spans().stream().map(TracingTest::recorded).toList();
  }

  @Override
  protected void forget() {
    spans.clear();
  }

  private static RecordedSpan recorded(MutableSpan span) {
    return new RecordedSpan(
        span.traceId(), span.id(), span.parentId(), String.valueOf(span.kind()));
  }

  @Test
  void tagsSpansAsSpringDoes() throws Exception {
    gateway().get("/row");
    finished(9);

    assertThat(tags(Kind.SERVER))
        .containsOnlyKeys("exception", "http.url", "method", "outcome", "status", "uri");
    assertThat(tags(Kind.CLIENT))
        .containsOnlyKeys(
            "client.name", "exception", "http.url", "method", "outcome", "status", "uri");
  }

  private Map<String, String> tags(Kind kind) {
    return spans.spans().stream()
        .filter(span -> span.kind() == kind)
        .findFirst()
        .orElseThrow()
        .tags();
  }
}
