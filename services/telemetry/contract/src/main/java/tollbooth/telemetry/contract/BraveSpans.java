package tollbooth.telemetry.contract;

import brave.handler.MutableSpan;
import brave.test.TestSpanHandler;
import java.util.List;
import java.util.Map;

/** Spans made by Brave, kept in memory. */
public final class BraveSpans implements Spans {

  private final TestSpanHandler spans = new TestSpanHandler();

  /** The beans that make Spring's tracer keep its spans here. */
  public Map<String, Object> beans() {
    return Map.of("testSpanHandler", spans);
  }

  /** The finished spans with all that Brave records. */
  public List<MutableSpan> finished() {
    return spans.spans();
  }

  @Override
  public List<RecordedSpan> recorded() {
    return finished().stream().map(BraveSpans::recorded).toList();
  }

  @Override
  public void forget() {
    spans.clear();
  }

  private static RecordedSpan recorded(MutableSpan span) {
    return new RecordedSpan(
        span.traceId(), span.id(), span.parentId(), String.valueOf(span.kind()));
  }
}
