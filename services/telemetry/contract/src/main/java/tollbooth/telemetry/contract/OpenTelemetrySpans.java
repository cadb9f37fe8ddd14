package tollbooth.telemetry.contract;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Spans that OpenTelemetry's SDK makes, kept in memory. */
public final class OpenTelemetrySpans {

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();

  /** Keeps spans here; to be given to the SDK of every node. */
  public SpanProcessor keeping() {
    return SimpleSpanProcessor.create(spans);
  }

  /** The spans that have finished, as every library can tell them. */
  public List<RecordedSpan> recorded() {
    return finished().stream().map(OpenTelemetrySpans::recorded).toList();
  }

  /** The spans that have finished, with all that the SDK knows of them. */
  public List<SpanData> finished() {
    return spans.getFinishedSpanItems();
  }

  /** Forgets the spans that have finished. */
  public void forget() {
    spans.reset();
  }

  /** The attributes, by name, of some span of a kind. */
  public static Map<String, Object> attributes(List<SpanData> spans, SpanKind kind) {
    Map<String, Object> attributes = new HashMap<>();
    spans.stream()
        .filter(span -> span.getKind() == kind)
        .findFirst()
        .orElseThrow()
        .getAttributes()
        .forEach((key, value) -> attributes.put(key.getKey(), value));
    return attributes;
  }

  private static RecordedSpan recorded(SpanData span) {
    return new RecordedSpan(
        span.getTraceId(),
        span.getSpanId(),
        span.getParentSpanContext().isValid() ? span.getParentSpanId() : null,
        span.getKind().name());
  }
}
