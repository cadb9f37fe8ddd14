package tollbooth.telemetry.contract;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Spans that OpenTelemetry's SDK makes, kept in memory. */
public final class OpenTelemetrySpans implements Spans {

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();

  /** Keeps spans here; the SDK of every node needs it. */
  public SpanProcessor keeping() {
    return SimpleSpanProcessor.create(spans);
  }

  /** An SDK that keeps its spans here and propagates the W3C context. */
  public OpenTelemetry sdk() {
    return OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(keeping()).build())
        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
        .build();
  }

  @Override
  public List<RecordedSpan> recorded() {
    return finished().stream().map(OpenTelemetrySpans::recorded).toList();
  }

  /** The finished spans with all that the SDK records. */
  public List<SpanData> finished() {
    return spans.getFinishedSpanItems();
  }

  @Override
  public void forget() {
    spans.reset();
  }

  /** The attributes, by name, of the first span of a kind. */
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
