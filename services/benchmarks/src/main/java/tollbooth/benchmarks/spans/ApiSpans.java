package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.util.stream.IntStream;

/** The same spans on every tracer of OpenTelemetry's API. */
final class ApiSpans {

  /** More than any benchmark sets. */
  static final int MOST = 100;

  static final String NAME = "GET /op/{operation}";
  static final String[] KEYS = texts("key.number.");
  static final String[] VALUES = texts("a small value ");

  private ApiSpans() {}

  private static String[] texts(String start) {
    return IntStream.range(0, MOST).mapToObj(i -> start + i).toArray(String[]::new);
  }

  static void make(Tracer tracer, int attributes) {
    Span span = tracer.spanBuilder(NAME).setNoParent().startSpan();
    addAttributes(span, attributes);
    span.end();
  }

  static void addAttributes(Span span, int attributes) {
    for (int i = 0; i < attributes; i++) {
      span.setAttribute(KEYS[i], VALUES[i]);
    }
  }
}
