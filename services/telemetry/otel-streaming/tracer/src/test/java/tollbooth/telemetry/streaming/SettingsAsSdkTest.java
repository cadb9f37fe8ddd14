package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.trace.SpanLimits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Variables mean what the SDK's autoconfiguration makes of them. */
class SettingsAsSdkTest {

  private static final List<String> LIMITS =
      List.of(
          "OTEL_ATTRIBUTE_COUNT_LIMIT",
          "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
          "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
          "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
          "OTEL_SPAN_EVENT_COUNT_LIMIT",
          "OTEL_SPAN_LINK_COUNT_LIMIT");

  /** The headers of all propagators, each with a trace of its own. */
  private static final Map<String, String> ALL =
      Map.of(
          "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "tracestate", "one=1,two=2",
          "baggage", "key=value;property,other=%C3%BC",
          "b3", "1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-1",
          "X-B3-TraceId", "2af7651916cd43dd8448eb211c80319c",
          "X-B3-SpanId", "d7ad6b7169203331",
          "X-B3-Sampled", "1");

  private static OpenTelemetrySdk sdk(Map<String, String> variables) {
    Map<String, String> properties = new HashMap<>();
    for (String signal : List.of("traces", "metrics", "logs")) {
      properties.put("otel." + signal + ".exporter", "none");
    }
    variables.forEach(
        (name, value) -> properties.put(name.toLowerCase(Locale.ROOT).replace('_', '.'), value));
    return AutoConfiguredOpenTelemetrySdk.builder()
        .disableShutdownHook()
        .addPropertiesSupplier(() -> properties)
        .build()
        .getOpenTelemetrySdk();
  }

  private static Limits limitsOfSdk(Map<String, String> variables) {
    try (OpenTelemetrySdk sdk = sdk(variables)) {
      SpanLimits limits = sdk.getSdkTracerProvider().getSpanLimits();
      return new Limits(
          limits.getMaxNumberOfAttributes(),
          limits.getMaxNumberOfEvents(),
          limits.getMaxNumberOfLinks(),
          limits.getMaxNumberOfAttributesPerEvent(),
          limits.getMaxNumberOfAttributesPerLink(),
          limits.getMaxAttributeValueLength(),
          Limits.DEFAULT.bytes());
    }
  }

  private static Limits limits(Map<String, String> variables) {
    return StreamingSettings.parse(variables).limits();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "1", "007", "127", "128", "129", "1000000000", "2147483647"})
  void limitsHaveTheSameValues(String value) {
    for (String name : LIMITS) {
      Map<String, String> variables = Map.of(name, value);
      assertThat(limits(variables)).as(name).isEqualTo(limitsOfSdk(variables));
    }
  }

  /** For each combination of variables; either those of all attributes are 0 or the others. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void limitsPrecedeEachOtherInTheSameOrder(boolean othersAreZero) {
    for (int set = 0; set < 1 << LIMITS.size(); set++) {
      Map<String, String> variables = new HashMap<>();
      for (int i = 0; i < LIMITS.size(); i++) {
        String name = LIMITS.get(i);
        if ((set & 1 << i) != 0) {
          boolean zero = name.startsWith("OTEL_SPAN_") == othersAreZero;
          variables.put(name, zero ? "0" : Integer.toString(10 + i));
        }
      }
      assertThat(limits(variables)).as(variables.toString()).isEqualTo(limitsOfSdk(variables));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "many", "1.5", "2147483648", "99999999999"})
  void wrongLimitsAreErrorsOfBoth(String value) {
    for (String name : LIMITS) {
      Map<String, String> variables = Map.of(name, value);
      assertThatThrownBy(() -> limits(variables)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> limitsOfSdk(variables)).isInstanceOf(ConfigurationException.class);
    }
  }

  /** README.md lists these, which the specification has, as a deviation. */
  @Test
  void theSdkDoesNotReadTheLimitsOfEventsAndLinks() {
    Map<String, String> variables =
        Map.of("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "1", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "0");

    assertThat(limitsOfSdk(variables)).isEqualTo(Limits.DEFAULT);
    assertThat(limits(variables))
        .isEqualTo(new Limits(128, 128, 128, 1, 0, Integer.MAX_VALUE, Limits.DEFAULT.bytes()));
  }

  /** Of several propagators that find a trace, the last one counts. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "none",
        "tracecontext",
        "baggage",
        "b3",
        "b3multi",
        "b3,tracecontext",
        "tracecontext, b3",
        "b3multi,b3",
        "baggage,b3,b3multi",
        "tracecontext,b3,baggage,tracecontext"
      })
  void propagatorsDoTheSame(String names) {
    Map<String, String> variables = Map.of("OTEL_PROPAGATORS", names);
    TextMapPropagator ours = StreamingSettings.parse(variables).propagator();
    try (OpenTelemetrySdk sdk = sdk(variables)) {
      TextMapPropagator theirs = sdk.getPropagators().getTextMapPropagator();
      assertThat(ours.fields()).containsExactlyElementsOf(theirs.fields());
      for (Map<String, String> headers : requests()) {
        assertThat(passedOn(ours, headers)).isEqualTo(passedOn(theirs, headers));
      }
    }
  }

  /** With all headers, with each one missing or wrong, and without any. */
  private static List<Map<String, String>> requests() {
    List<Map<String, String>> requests = new ArrayList<>(List.of(ALL, Map.of()));
    for (String name : ALL.keySet()) {
      for (String value : List.of("", "0", "1", "d", "garbage", "b7ad6b7169203331")) {
        Map<String, String> request = new HashMap<>(ALL);
        request.put(name, value);
        requests.add(request);
      }
      Map<String, String> request = new HashMap<>(ALL);
      request.remove(name);
      requests.add(request);
    }
    return requests;
  }

  /** What a service learns from the headers of a request, and which ones its calls have. */
  private static List<Object> passedOn(TextMapPropagator propagator, Map<String, String> headers) {
    Context context = propagator.extract(Context.root(), headers, StreamingSettingsTest.GETTER);
    Map<String, String> sent = new HashMap<>();
    propagator.inject(context, sent, Map::put);
    return List.of(
        Span.fromContext(context).getSpanContext(), Baggage.fromContext(context).asMap(), sent);
  }
}
