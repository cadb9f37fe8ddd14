package tollbooth.telemetry.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tollbooth.telemetry.contract.OpenTelemetryTracingContract;

/** The spans written by hand, kept in memory. */
class TracingTest extends OpenTelemetryTracingContract {

  @Override
  protected Map<String, Object> beans() {
    return Map.of("openTelemetry", spans().sdk());
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of();
  }

  @ParameterizedTest
  @CsvSource({"row, 9", "fan, 11"})
  void givesEverySpanEightAttributesAndNoVerdict(String route, int count) throws Exception {
    gateway().get("/" + route);

    assertThat(finishedSpans(count))
        .extracting(span -> span.getAttributes().size())
        .containsOnly(8);
    assertThat(finishedSpans(count))
        .extracting(span -> span.getStatus().getStatusCode())
        .containsOnly(StatusCode.UNSET);
  }

  @ParameterizedTest
  @CsvSource({"row, 9", "fan, 11"})
  void namesSpansAfterTheirRoutes(String route, int count) throws Exception {
    gateway().get("/" + route);

    assertThat(finishedSpans(count))
        .allSatisfy(span -> assertThat(span.getName()).isEqualTo(expectedName(span)));
  }

  private static String expectedName(SpanData span) {
    if (span.getKind() == SpanKind.CLIENT) {
      return "GET";
    }
    return span.getParentSpanContext().isValid() ? "GET /op/{operation}" : "GET /{route}";
  }

  @Test
  void tagsSpansWithTheConventionsNames() throws Exception {
    gateway().get("/row");

    assertThat(attributes(finishedSpans(9), SpanKind.SERVER))
        .containsOnlyKeys(
            "http.request.method",
            "url.scheme",
            "url.path",
            "http.route",
            "http.response.status_code",
            "server.address",
            "server.port",
            "network.protocol.version")
        .containsEntry("http.response.status_code", 200L)
        .containsEntry("network.protocol.version", "1.1");
    assertThat(attributes(finishedSpans(9), SpanKind.CLIENT))
        .containsOnlyKeys(
            "http.request.method",
            "url.full",
            "url.scheme",
            "http.response.status_code",
            "server.address",
            "server.port",
            "network.protocol.name",
            "network.protocol.version")
        .containsEntry("server.port", (long) address("a2").getPort());
  }

  @Test
  void marksADrawnFailureOnEverySpanThatItReaches() throws Exception {
    assertThat(gateway().get("/broken").statusCode()).isEqualTo(502);

    assertThat(finishedSpans(5))
        .allMatch(span -> span.getStatus().getStatusCode() == StatusCode.ERROR)
        .extracting(span -> span.getAttributes().get(AttributeKey.stringKey("error.type")))
        .containsExactlyInAnyOrder("500", "500", "502", "502", "502");
  }

  @Test
  void marksACallWithoutAnAnswer() throws Exception {
    assertThat(gateway().get("/dead").statusCode()).isEqualTo(502);

    assertThat(finishedSpans(2))
        .filteredOn(span -> span.getKind() == SpanKind.CLIENT)
        .singleElement()
        .satisfies(span -> assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR))
        .extracting(span -> span.getAttributes().get(AttributeKey.stringKey("error.type")))
        .asString()
        .endsWith("ConnectException");
  }

  @Test
  void doesNotBlameTheServerForAClientsMistake() throws Exception {
    assertThat(gateway().get("/nowhere").statusCode()).isEqualTo(404);

    assertThat(finishedSpans(1))
        .singleElement()
        .extracting(span -> span.getStatus().getStatusCode())
        .isEqualTo(StatusCode.UNSET);
  }
}
