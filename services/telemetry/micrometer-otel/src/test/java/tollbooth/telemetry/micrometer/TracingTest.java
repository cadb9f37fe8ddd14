package tollbooth.telemetry.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.contract.OpenTelemetryTracingContract;

/** The spans that Spring's observations make, as the SDK hands them over. */
class TracingTest extends OpenTelemetryTracingContract {

  @Override
  protected Map<String, Object> beans() {
    return Map.of("keepingSpans", keepingSpans());
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of(
        "spring.task.execution.propagate-context", "true",
        "management.tracing.sampling.probability", "1.0");
  }

  @Test
  void tagsSpansAsSpringDoes() throws Exception {
    gateway().get("/row");

    assertThat(attributes(finishedSpans(9), SpanKind.SERVER))
        .containsOnlyKeys("exception", "http.url", "method", "outcome", "status", "uri");
    assertThat(attributes(finishedSpans(9), SpanKind.CLIENT))
        .containsOnlyKeys(
            "client.name", "exception", "http.url", "method", "outcome", "status", "uri");
  }
}
