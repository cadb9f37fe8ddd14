package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import tollbooth.telemetry.streaming.StreamingOpenTelemetry;
import tollbooth.telemetry.streaming.StreamingSettings;

/** The streaming tracer. */
final class StreamingMaker implements ApiMaker {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final StreamingOpenTelemetry telemetry;
  private final Tracer tracer;

  private StreamingMaker(Map<String, String> variables) {
    telemetry = StreamingOpenTelemetry.start(StreamingSettings.parse(variables));
    tracer = telemetry.getTracer("benchmark");
  }

  /** Records, queues and drops. */
  static StreamingMaker discarding(int queueSize) {
    return new StreamingMaker(
        Map.of(
            "OTEL_TRACES_EXPORTER",
            "discard",
            "OTEL_BSP_MAX_QUEUE_SIZE",
            Integer.toString(queueSize)));
  }

  /**
   * Sends to a backend.
   *
   * @param framing a value of {@code TOLLBOOTH_SPAN_FRAMING}, and {@code -gzip} to compress
   */
  static StreamingMaker sending(String url, String framing, int queueSize) {
    Map<String, String> variables = new HashMap<>();
    variables.put("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    String gzip = "-gzip";
    variables.put("OTEL_EXPORTER_OTLP_COMPRESSION", framing.endsWith(gzip) ? "gzip" : "none");
    variables.put("TOLLBOOTH_SPAN_FRAMING", framing.replace(gzip, ""));
    variables.put("OTEL_BSP_MAX_QUEUE_SIZE", Integer.toString(queueSize));
    return new StreamingMaker(variables);
  }

  @Override
  public Tracer tracer() {
    return tracer;
  }

  @Override
  public void make(int attributes) {
    ApiSpans.make(tracer, attributes);
  }

  @Override
  public void settle() {
    telemetry.forceFlush(LONG);
  }

  @Override
  public long delivered() {
    return telemetry.counts().acknowledged();
  }

  @Override
  public void close() {
    telemetry.close();
  }
}
