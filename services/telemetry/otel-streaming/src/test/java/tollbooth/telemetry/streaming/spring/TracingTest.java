package tollbooth.telemetry.streaming.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.contract.TracingContract;
import tollbooth.telemetry.streaming.spring.testing.ReceivedSpans;

/** The spans that a backend receives from running services. */
class TracingTest extends TracingContract {

  private final ReceivedSpans spans = new ReceivedSpans();

  @AfterAll
  void closeBackend() {
    spans.close();
  }

  @Override
  protected Map<String, Object> beans() {
    return Map.of();
  }

  @Override
  protected Map<String, String> properties() {
    return spans.properties();
  }

  @Override
  protected ReceivedSpans spans() {
    return spans;
  }

  @Test
  void givesEverySpanEightAttributes() throws Exception {
    gateway().get("/row");
    finished(9);

    assertThat(spans.backend().spans()).allMatch(span -> span.getAttributesCount() == 8);
    assertThat(spans.backend().groups())
        .allSatisfy(group ->
            assertThat(group.getScopeSpans(0).getScope().getName())
                .isEqualTo("tollbooth.otel-manual"));
  }

  @Test
  void marksFailures() throws Exception {
    assertThat(gateway().get("/broken").statusCode()).isEqualTo(502);
    finished(5);

    assertThat(spans.backend().spans())
        .extracting(Span::getStatus)
        .allMatch(status -> status.getCode() == StatusCode.STATUS_CODE_ERROR);
  }
}
