package tollbooth.telemetry.contract;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Map;

/** {@link TracingContract} for variants whose spans are made by OpenTelemetry's SDK. */
public abstract class OpenTelemetryTracingContract extends TracingContract {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  /** Keeps spans here; to be given to the SDK of every node. */
  protected final SpanProcessor keepingSpans() {
    return spans.keeping();
  }

  @Override
  protected final List<RecordedSpan> recorded() {
    return spans.recorded();
  }

  @Override
  protected final void forget() {
    spans.forget();
  }

  /** As {@link #finished}, with all that the SDK knows of them. */
  protected final List<SpanData> finishedSpans(int count) {
    finished(count);
    return spans.finished();
  }

  /** The attributes, by name, of some span of a kind. */
  protected static Map<String, Object> attributes(List<SpanData> spans, SpanKind kind) {
    return OpenTelemetrySpans.attributes(spans, kind);
  }
}
