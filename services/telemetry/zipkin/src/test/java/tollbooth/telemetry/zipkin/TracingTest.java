package tollbooth.telemetry.zipkin;

import static org.assertj.core.api.Assertions.assertThat;

import brave.Span.Kind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.contract.BraveSpans;
import tollbooth.telemetry.contract.TracingContract;

/** The spans that Spring's observations make with Brave. */
class TracingTest extends TracingContract {

  private final BraveSpans spans = new BraveSpans();

  @Override
  protected BraveSpans spans() {
    return spans;
  }

  @Override
  protected Map<String, Object> beans() {
    return spans.beans();
  }

  @Override
  protected Map<String, String> properties() {
    return IN_MEMORY;
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
    return spans.finished().stream()
        .filter(span -> span.kind() == kind)
        .findFirst()
        .orElseThrow()
        .tags();
  }
}
