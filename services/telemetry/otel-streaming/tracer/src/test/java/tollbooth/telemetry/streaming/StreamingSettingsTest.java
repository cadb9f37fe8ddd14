package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tollbooth.telemetry.recorder.Endpoint;
import tollbooth.telemetry.recorder.Framing;
import tollbooth.telemetry.recorder.RecorderSettings;
import tollbooth.telemetry.recorder.Routing;
import tollbooth.telemetry.streaming.StreamingSettings.Exporter;

class StreamingSettingsTest {

  private static StreamingSettings parse(String... namesAndValues) {
    Map<String, String> variables = new HashMap<>(Map.of("PATH", "/bin"));
    for (int i = 0; i < namesAndValues.length; i += 2) {
      variables.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return StreamingSettings.parse(variables);
  }

  @Test
  void hasTheSpecificationsDefaults() {
    StreamingSettings settings = parse();

    assertThat(settings.exporter()).isEqualTo(Exporter.OTLP);
    assertThat(settings.limits()).isEqualTo(Limits.DEFAULT);
    assertThat(settings.queueSize()).isEqualTo(2048);
    assertThat(settings.propagator().fields()).contains("traceparent", "tracestate", "baggage");
    assertThat(settings.sampler().samples(Sampler.Parent.NONE, 1)).isTrue();
    assertThat(settings.sampler().samples(Sampler.Parent.UNSAMPLED, 1)).isFalse();
    assertThat(settings.resource().get(AttributeKey.stringKey("service.name")))
        .isEqualTo("unknown_service:java");
    assertThat(settings.recorder().endpoints())
        .containsExactly(new Endpoint("localhost", 4318, "/v1/traces"));
    assertThat(settings.recorder().timeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(settings.recorder().requestAge()).isEqualTo(Duration.ofSeconds(1));
    assertThat(settings.recorder().requestBytes()).isEqualTo(1 << 20);
    assertThat(settings.recorder().framing()).isEqualTo(Framing.CHUNK_PER_SPAN);
    assertThat(settings.recorder().routing()).isEqualTo(Routing.ANY_WRITABLE);
  }

  @Test
  void compressesSpansThatShareAChunk() {
    assertThat(parse().recorder().gzip()).isFalse();
    assertThat(parse("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip").recorder())
        .returns(true, RecorderSettings::gzip)
        .returns(Framing.CHUNK_PER_WRITE, RecorderSettings::framing);
    assertThatThrownBy(() ->
            parse(
                "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip",
                "TOLLBOOTH_SPAN_FRAMING", "chunk-per-span"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("TOLLBOOTH_SPAN_FRAMING: ");
  }

  @Test
  void readsLimits() {
    assertThat(parse("OTEL_ATTRIBUTE_COUNT_LIMIT", "5").limits())
        .isEqualTo(new Limits(5, 128, 128, 5, 5, Integer.MAX_VALUE, 1 << 20));
    assertThat(
            parse(
                    "OTEL_ATTRIBUTE_COUNT_LIMIT", "5",
                    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "6",
                    "OTEL_SPAN_EVENT_COUNT_LIMIT", "7",
                    "OTEL_SPAN_LINK_COUNT_LIMIT", "8",
                    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "9",
                    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "0",
                    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "11",
                    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "12",
                    "TOLLBOOTH_SPAN_REQUEST_BYTES", "2048")
                .limits())
        .isEqualTo(new Limits(6, 7, 8, 9, 0, 12, 2048));
  }

  @Test
  void readsTheResource() {
    StreamingSettings settings =
        parse(
            "OTEL_RESOURCE_ATTRIBUTES", "a=1, b=x%20y%2Cz+ ,service.name=other",
            "OTEL_SERVICE_NAME", "a1");

    assertThat(settings.resource().asMap().entrySet())
        .extracting(entry -> entry.getKey().getKey() + "=" + entry.getValue())
        .containsExactlyInAnyOrder(
            "a=1",
            "b=x y,z+",
            "service.name=a1",
            "telemetry.sdk.language=java",
            "telemetry.sdk.name=tollbooth-streaming",
            "telemetry.sdk.version=1");
  }

  @Test
  void prefersWhatIsSaidOfTraces() {
    StreamingSettings settings =
        parse(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1/",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:2/own",
            "OTEL_EXPORTER_OTLP_HEADERS", "a=b",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key=s%3Dcret",
            "OTEL_EXPORTER_OTLP_TIMEOUT", "1s",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2500");

    assertThat(settings.recorder().endpoints()).containsExactly(new Endpoint("traces", 2, "/own"));
    assertThat(settings.recorder().headers()).isEqualTo(Map.of("api-key", "s=cret"));
    assertThat(settings.recorder().timeout()).isEqualTo(Duration.ofMillis(2500));
  }

  @Test
  void addsThePathToACommonEndpoint() {
    assertThat(parse("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1/").recorder().endpoints())
        .containsExactly(new Endpoint("all", 1, "/v1/traces"));
    assertThat(
            parse("TOLLBOOTH_SPAN_ENDPOINTS", "http://one:1, http://two:2/x")
                .recorder()
                .endpoints())
        .containsExactly(
            new Endpoint("one", 1, "/v1/traces"), new Endpoint("two", 2, "/x/v1/traces"));
  }

  @Test
  void readsWhichEndpointASpanGoesTo() {
    assertThat(parse("TOLLBOOTH_SPAN_ROUTING", "round-robin").recorder().routing())
        .isEqualTo(Routing.ROUND_ROBIN);
  }

  static final TextMapGetter<Map<String, String>> GETTER =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> carrier) {
          return carrier.keySet();
        }

        @Override
        public String get(Map<String, String> carrier, String key) {
          return carrier.get(key);
        }
      };

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tracecontext|traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "baggage|baggage=key=value",
        "b3,baggage|b3=0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1,baggage=key=value",
        "b3multi|X-B3-TraceId=0af7651916cd43dd8448eb211c80319c,X-B3-SpanId=b7ad6b7169203331,"
            + "X-B3-Sampled=1",
        "none|''"
      })
  void propagatorsInjectWhatTheyExtract(String names, String headers) {
    TextMapPropagator propagator = parse("OTEL_PROPAGATORS", names).propagator();
    Map<String, String> carrier = new Variables(Map.of("H", headers)).pairs("H");
    Map<String, String> injected = new HashMap<>();
    propagator.inject(propagator.extract(Context.root(), carrier, GETTER), injected, Map::put);

    assertThat(injected).isEqualTo(carrier);
  }

  @ParameterizedTest
  @CsvSource({
    "otlp, false, OTLP",
    "discard, false, DISCARD",
    "none, false, NONE",
    "otlp, true, NONE"
  })
  void readsWhatHappensToSpans(String exporter, String disabled, Exporter expected) {
    assertThat(parse("OTEL_TRACES_EXPORTER", exporter, "OTEL_SDK_DISABLED", disabled).exporter())
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"50, 50, 50", "5s, 5000, 100"})
  void looksAtTheQueueAtLeastAsOftenAsARequestEnds(String delay, long ageMs, long lookMs) {
    var recorder = parse("OTEL_BSP_SCHEDULE_DELAY", delay).recorder();

    assertThat(recorder.requestAge()).isEqualTo(Duration.ofMillis(ageMs));
    assertThat(recorder.flushInterval()).isEqualTo(Duration.ofMillis(lookMs));
  }

  @Test
  void takesAnEmptyVariableAsNotSet() {
    assertThat(parse("OTEL_BSP_MAX_QUEUE_SIZE", " ", "OTEL_UNKNOWN", "").queueSize())
        .isEqualTo(2048);
  }

  @ParameterizedTest
  @CsvSource({
    "OTEL_BSP_MAX_QUEUE_SIZE, many",
    "OTEL_BSP_MAX_QUEUE_SIZE, 1",
    "OTEL_BSP_MAX_QUEUE_SIZE, 99999999999",
    "OTEL_BSP_SCHEDULE_DELAY, 0",
    "OTEL_BSP_SCHEDULE_DELAY, 5 weeks",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512",
    "OTEL_EXPORTER_OTLP_ENDPOINT, https://collector:4318",
    "OTEL_EXPORTER_OTLP_ENDPOINT, collector",
    "OTEL_EXPORTER_OTLP_ENDPOINT, http://collector:4318?tenant=a",
    "OTEL_EXPORTER_OTLP_ENDPOINT, http://collector:4318#part",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, http://collector:4318/v1/traces#part",
    "OTEL_EXPORTER_OTLP_PROTOCOL, grpc",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION, zstd",
    "OTEL_EXPORTER_OTLP_HEADERS, nothing",
    "OTEL_EXPORTER_OTLP_HEADERS, a=%0Ab",
    "OTEL_EXPORTER_OTLP_HEADERS, a b=c",
    "OTEL_EXPORTER_OTLP_HEADERS, Host=other",
    "OTEL_EXPORTER_OTLP_HEADERS, 'a=b,connection=close'",
    "OTEL_EXPORTER_OTLP_HEADERS, Content-Length=1",
    "OTEL_EXPORTER_OTLP_HEADERS, content-encoding=gzip",
    "OTEL_EXPORTER_OTLP_HEADERS, TRANSFER-ENCODING=identity",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, http://collector:4318",
    "OTEL_LOGS_EXPORTER, otlp",
    "OTEL_METRICS_EXPORTER, prometheus",
    "OTEL_PROPAGATORS, jaeger",
    "OTEL_PROPAGATORS, ','",
    "OTEL_RESOURCE_ATTRIBUTES, a=%zz",
    "OTEL_SDK_DISABLED, yes",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, -1",
    "OTEL_TRACES_EXPORTER, zipkin",
    "OTEL_TRACES_SAMPLER, jaeger_remote",
    "OTEL_TRACES_SAMPLER_ARG, 1.5",
    "OTEL_TRACES_SAMPLER_ARG, half",
    "TOLLBOOTH_SPAN_ENDPOINTS, 'http://one:1,two'",
    "TOLLBOOTH_SPAN_ENDPOINTS, ','",
    "TOLLBOOTH_SPAN_FRAMING, none",
    "TOLLBOOTH_SPAN_REQUEST_BYTES, 1",
    "TOLLBOOTH_SPAN_ROUTING, sticky",
    "TOLLBOOTH_SPAN_REQUESTS, 1"
  })
  void rejectsAnythingElseInOneLine(String name, String value) {
    assertThatThrownBy(() -> parse(name, value))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .startsWith(name + ": ")
        .hasLineCount(1);
  }
}
