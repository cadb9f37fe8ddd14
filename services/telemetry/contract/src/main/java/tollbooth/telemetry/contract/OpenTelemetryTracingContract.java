package tollbooth.telemetry.contract;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** {@link TracingContract} for variants whose spans are made by OpenTelemetry's SDK. */
public abstract class OpenTelemetryTracingContract extends TracingContract {

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();

  /** Keeps spans here; to be given to the SDK of every node. */
  protected final SpanProcessor keepingSpans() {
    return SimpleSpanProcessor.create(spans);
  }

  @Override
  protected final List<RecordedSpan> recorded() {
    return spans.getFinishedSpanItems().stream()
        .map(OpenTelemetryTracingContract::recorded)
        .toList();
  }

  @Override
  protected final void forget() {
    spans.reset();
  }

  /** As {@link #finished}, with all that the SDK knows of them. */
  protected final List<SpanData> finishedSpans(int count) {
    finished(count);
    return spans.getFinishedSpanItems();
  }

  /** The attributes, by name, of some span of a kind. */
  protected static Map<String, Object> attributes(List<SpanData> spans, SpanKind kind) {
    Map<String, Object> attributes = new ConcurrentHashMap<>();
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
