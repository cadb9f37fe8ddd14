package tollbooth.telemetry.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.contract.OpenTelemetryTracingContract;

/** The spans that Spring's observations make with OpenTelemetry's SDK. */
class TracingTest extends OpenTelemetryTracingContract {

  @Override
  protected Map<String, Object> beans() {
    return Map.of("keepingSpans", spans().keeping());
  }

  @Override
  protected Map<String, String> properties() {
    return IN_MEMORY;
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
