package tollbooth.telemetry.contract;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Map;

/** {@link TracingContract} for variants whose spans are made by OpenTelemetry's SDK. */
public abstract class OpenTelemetryTracingContract extends TracingContract {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @Override
  protected final OpenTelemetrySpans spans() {
    return spans;
  }

  /** Like {@link #finished}, with all that the SDK records. */
  protected final List<SpanData> finishedSpans(int count) {
    finished(count);
    return spans.finished();
  }

  /** The attributes, by name, of the first span of a kind. */
  protected static Map<String, Object> attributes(List<SpanData> spans, SpanKind kind) {
    return OpenTelemetrySpans.attributes(spans, kind);
  }
}
