package tollbooth.benchmarks.spans;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** What a span carries, ten of it. */
enum SpanShape {
  /** Events of one attribute each. */
  EVENTS {
    @Override
    void addTo(Span span) {
      for (int i = 0; i < COUNT; i++) {
        span.addEvent("message", MESSAGE);
      }
    }
  },

  /** Links to other traces. */
  LINKS {
    @Override
    void addTo(Span span) {
      for (SpanContext other : OTHERS) {
        span.addLink(other);
      }
    }
  },

  /** Attributes of 1,000 characters each. */
  LONG_STRINGS {
    @Override
    void addTo(Span span) {
      for (int i = 0; i < COUNT; i++) {
        span.setAttribute(ApiSpans.KEYS.get(i), LONG);
      }
    }
  },

  /** Small attributes, while the span is the current one. */
  CURRENT {
    @Override
    void addTo(Span span) {
      try (Scope scope = span.makeCurrent()) {
        ApiSpans.addAttributes(span, COUNT);
      }
    }
  },

  /** Small attributes; the span's context goes into the headers of a request. */
  INJECTED {
    @Override
    void addTo(Span span) {
      ApiSpans.addAttributes(span, COUNT);
      W3CTraceContextPropagator.getInstance()
          .inject(Context.root().with(span), new HashMap<>(), Map::put);
    }
  };

  private static final int COUNT = 10;
  private static final Attributes MESSAGE =
      Attributes.of(AttributeKey.stringKey("message.id"), "a small value");
  private static final String LONG = "a long value ".repeat(80).substring(0, 1_000);
  private static final SpanContext[] OTHERS =
      IntStream.rangeClosed(1, COUNT).mapToObj(SpanShape::other).toArray(SpanContext[]::new);

  private static SpanContext other(int number) {
    return SpanContext.create(
        "%032x".formatted(number),
        "%016x".formatted(number),
        TraceFlags.getSampled(),
        TraceState.getDefault());
  }

  /**
   * Reads a parameter of a benchmark.
   *
   * @param name in lower case, with dashes
   */
  static SpanShape of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** Adds what makes the shape. */
  abstract void addTo(Span span);

  /** Makes a root span, from its start to its end. */
  void make(Tracer tracer) {
    Span span = tracer.spanBuilder(ApiSpans.NAME).setNoParent().startSpan();
    addTo(span);
    span.end();
  }
}
