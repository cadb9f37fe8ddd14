package tollbooth.telemetry.streaming;

import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.extension.trace.propagation.B3Propagator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tollbooth.telemetry.recorder.Endpoint;
import tollbooth.telemetry.recorder.Framing;
import tollbooth.telemetry.recorder.RecorderSettings;
import tollbooth.telemetry.recorder.Routing;

/**
 * What the variables of OpenTelemetry, and this tracer's own, say.
 *
 * @param exporter what happens to spans
 * @param queueSize how many ended spans may wait for the recorder
 */
public record StreamingSettings(
    Exporter exporter,
    Sampler sampler,
    Limits limits,
    Attributes resource,
    int queueSize,
    TextMapPropagator propagator,
    RecorderSettings recorder) {

  /** What happens to spans. */
  public enum Exporter {
    /** They are sent. */
    OTLP,
    /** They are recorded and queued, then dropped. */
    DISCARD,
    /** None is made. */
    NONE
  }

  private static final String TRACES_PATH = "/v1/traces";
  private static final int MIB = 1 << 20;

  /** Above it, memory would become scarce in a container of 512 MiB. */
  private static final int MOST_QUEUED = 1 << 16;

  /** The Collector takes requests of 20 MiB. */
  private static final int MOST_REQUEST_BYTES = 16 * MIB;

  /** Bytes of requests that wait for another attempt. */
  private static final int RETRIED_BYTES = 4 * MIB;

  private static final int SEND_BUFFER_BYTES = 1 << 16;
  private static final Duration LONGEST_LOOK = Duration.ofMillis(100);

  private static final String FRAMING = "chunk-per-span";
  private static final String COMPRESSED_FRAMING = "chunk-per-write";

  private static final Map<String, Framing> FRAMINGS =
      Map.of(
          FRAMING,
          Framing.CHUNK_PER_SPAN,
          COMPRESSED_FRAMING,
          Framing.CHUNK_PER_WRITE,
          "group-per-write",
          Framing.GROUP_PER_WRITE);

  private static final Map<String, Routing> ROUTINGS =
      Map.of("any-writable", Routing.ANY_WRITABLE, "round-robin", Routing.ROUND_ROBIN);

  private static final Map<String, Exporter> EXPORTERS =
      Map.of("otlp", Exporter.OTLP, "discard", Exporter.DISCARD, "none", Exporter.NONE);

  /**
   * Reads the process's own variables. As in OpenTelemetry's SDK, a system property such as {@code
   * otel.service.name} comes before the variable.
   *
   * @throws IllegalArgumentException in one line, if one is wrong or not known
   */
  public static StreamingSettings ofProcess() {
    Map<String, String> variables = new HashMap<>(System.getenv());
    for (String property : System.getProperties().stringPropertyNames()) {
      if (property.startsWith("otel.")) {
        variables.put(
            property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_'),
            System.getProperty(property));
      }
    }
    return parse(variables);
  }

  /**
   * Reads variables by name.
   *
   * @throws IllegalArgumentException in one line, if one is wrong or not known
   */
  public static StreamingSettings parse(Map<String, String> all) {
    Variables variables = new Variables(all);
    RecorderSettings recorder = recorder(variables);
    StreamingSettings settings =
        new StreamingSettings(
            exporter(variables),
            sampler(variables),
            limits(variables, recorder.requestBytes()),
            resource(variables),
            variables.whole("OTEL_BSP_MAX_QUEUE_SIZE", 2048, 2, MOST_QUEUED),
            variables.parsed(
                "OTEL_PROPAGATORS", "tracecontext,baggage", StreamingSettings::propagators),
            recorder);
    variables.rejectOthers("OTEL_", "TOLLBOOTH_SPAN_");
    return settings;
  }

  private static Exporter exporter(Variables variables) {
    // Metrics and logs are none of a tracer's: only this can be said about them.
    variables.choice("OTEL_METRICS_EXPORTER", "none", Map.of("none", true));
    variables.choice("OTEL_LOGS_EXPORTER", "none", Map.of("none", true));
    boolean disabled =
        variables.choice("OTEL_SDK_DISABLED", "false", Map.of("true", true, "false", false));
    Exporter exporter = variables.choice("OTEL_TRACES_EXPORTER", "otlp", EXPORTERS);
    return disabled ? Exporter.NONE : exporter;
  }

  private static Sampler sampler(Variables variables) {
    Sampler ratio = Sampler.ratio(variables.fraction("OTEL_TRACES_SAMPLER_ARG", 1));
    Map<String, Sampler> samplers = new HashMap<>();
    Map.of("always_on", Sampler.ALWAYS_ON, "always_off", Sampler.ALWAYS_OFF, "traceidratio", ratio)
        .forEach((name, root) -> {
          samplers.put(name, root);
          samplers.put("parentbased_" + name, Sampler.parentBased(root));
        });
    return variables.choice("OTEL_TRACES_SAMPLER", "parentbased_always_on", samplers);
  }

  /** The specification's limits. Those of spans come before those of all attributes. */
  private static Limits limits(Variables variables, int spanBytes) {
    int all = limit(variables, "OTEL_ATTRIBUTE_COUNT_LIMIT", 128);
    int length = limit(variables, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", Integer.MAX_VALUE);
    return new Limits(
        limit(variables, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", all),
        limit(variables, "OTEL_SPAN_EVENT_COUNT_LIMIT", 128),
        limit(variables, "OTEL_SPAN_LINK_COUNT_LIMIT", 128),
        limit(variables, "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", all),
        limit(variables, "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", all),
        limit(variables, "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", length),
        spanBytes);
  }

  private static int limit(Variables variables, String name, int otherwise) {
    return variables.whole(name, otherwise, 0, Integer.MAX_VALUE);
  }

  private static Attributes resource(Variables variables) {
    AttributesBuilder resource =
        Attributes.builder()
            .put("service.name", "unknown_service:java")
            .put("telemetry.sdk.language", "java")
            .put("telemetry.sdk.name", "tollbooth-streaming")
            .put("telemetry.sdk.version", "1");
    variables.pairs("OTEL_RESOURCE_ATTRIBUTES").forEach((key, value) -> resource.put(key, value));
    String service = variables.text("OTEL_SERVICE_NAME", "");
    if (!service.isEmpty()) {
      resource.put("service.name", service);
    }
    return resource.build();
  }

  private static TextMapPropagator propagators(String names) {
    List<TextMapPropagator> propagators = new ArrayList<>();
    List<String> list = list(names);
    if (!list.equals(List.of("none"))) {
      // One that is named twice counts where it is named first.
      list.stream().distinct().forEach(name -> propagators.add(one(name)));
    }
    return TextMapPropagator.composite(propagators);
  }

  private static TextMapPropagator one(String name) {
    return switch (name) {
      case "tracecontext" -> W3CTraceContextPropagator.getInstance();
      case "baggage" -> W3CBaggagePropagator.getInstance();
      case "b3" -> B3Propagator.injectingSingleHeader();
      case "b3multi" -> B3Propagator.injectingMultiHeaders();
      default ->
          throw new IllegalArgumentException(
              "must be tracecontext, baggage, b3 and b3multi, or none, not '" + name + "'");
    };
  }

  private static RecorderSettings recorder(Variables variables) {
    variables.choice(
        ofTraces(variables, "PROTOCOL"), "http/protobuf", Map.of("http/protobuf", true));
    boolean gzip =
        variables.choice(
            ofTraces(variables, "COMPRESSION"), "none", Map.of("none", false, "gzip", true));
    Duration age = variables.duration("OTEL_BSP_SCHEDULE_DELAY", Duration.ofSeconds(1));
    int requestBytes =
        variables.whole("TOLLBOOTH_SPAN_REQUEST_BYTES", MIB, 1024, MOST_REQUEST_BYTES);
    List<Endpoint> endpoints = endpoints(variables);
    return new RecorderSettings(
        endpoints,
        variables.headers(ofTraces(variables, "HEADERS")),
        age,
        requestBytes,
        (long) endpoints.size() * requestBytes + RETRIED_BYTES,
        SEND_BUFFER_BYTES,
        age.compareTo(LONGEST_LOOK) < 0 ? age : LONGEST_LOOK,
        variables.duration(ofTraces(variables, "TIMEOUT"), Duration.ofSeconds(10)),
        framing(variables, gzip),
        gzip,
        variables.choice("TOLLBOOTH_SPAN_ROUTING", "any-writable", ROUTINGS));
  }

  /** A span alone is not worth compressing. */
  private static Framing framing(Variables variables, boolean gzip) {
    Map<String, Framing> framings = new HashMap<>(FRAMINGS);
    if (gzip) {
      framings.remove(FRAMING);
    }
    return variables.choice(
        "TOLLBOOTH_SPAN_FRAMING", gzip ? COMPRESSED_FRAMING : FRAMING, framings);
  }

  /** A variable of OTLP: that of traces if it is set, otherwise the common one. */
  private static String ofTraces(Variables variables, String name) {
    return variables.firstOf("OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name);
  }

  private static List<Endpoint> endpoints(Variables variables) {
    String several = "TOLLBOOTH_SPAN_ENDPOINTS";
    String ofTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    String name = variables.firstOf(several, ofTraces, "OTEL_EXPORTER_OTLP_ENDPOINT");
    if (name.equals(several)) {
      return variables.parsed(
          name, "", text -> list(text).stream().map(StreamingSettings::base).toList());
    }
    if (name.equals(ofTraces)) {
      return List.of(variables.parsed(name, "", Endpoint::parse));
    }
    return List.of(variables.parsed(name, "http://localhost:4318", StreamingSettings::base));
  }

  private static List<String> list(String text) {
    List<String> items = List.of(text.split(" *, *"));
    if (items.isEmpty()) {
      throw new IllegalArgumentException("must name at least one, not '" + text + "'");
    }
    return items;
  }

  private static Endpoint base(String url) {
    if (url.contains("?")) {
      throw new IllegalArgumentException(
          "must be http://<host>[:<port>][/<path>], not '" + url + "'");
    }
    String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    return Endpoint.parse(base + TRACES_PATH);
  }
}
