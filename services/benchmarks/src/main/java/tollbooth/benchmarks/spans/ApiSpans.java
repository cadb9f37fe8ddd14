package tollbooth.benchmarks.spans;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.util.List;
import java.util.stream.IntStream;

/** The same spans on every tracer of OpenTelemetry's API. */
final class ApiSpans {

  /** More than any benchmark sets. */
  static final int MOST = 100;

  static final String NAME = "GET /op/{operation}";

  /** Made once, as careful code does: a text as the key costs the SDK an object each time. */
  static final List<AttributeKey<String>> KEYS =
      IntStream.range(0, MOST).mapToObj(i -> AttributeKey.stringKey("key.number." + i)).toList();

  static final List<String> VALUES =
      IntStream.range(0, MOST).mapToObj(i -> "a small value " + i).toList();

  private ApiSpans() {}

  static void make(Tracer tracer, int attributes) {
    Span span = tracer.spanBuilder(NAME).setNoParent().startSpan();
    addAttributes(span, attributes);
    span.end();
  }

  static void addAttributes(Span span, int attributes) {
    for (int i = 0; i < attributes; i++) {
      span.setAttribute(KEYS.get(i), VALUES.get(i));
    }
  }
}
