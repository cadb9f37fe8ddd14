package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Appends calls on a span or its builder to a recording, within the limits. */
final class SpanWriter {

  private final WireFormat format;
  private final Limits limits;

  SpanWriter(WireFormat format, Limits limits) {
    this.format = format;
    this.limits = limits;
  }

  void attribute(Recording span, String name, String value) {
    Key key = format.key(name);
    int slot = span.open(key);
    if (slot >= 0) {
      format.attribute(span.chain, key, limits.cut(value));
      span.close(slot);
    }
  }

  void attribute(Recording span, String name, long value) {
    Key key = format.key(name);
    int slot = span.open(key);
    if (slot >= 0) {
      format.attribute(span.chain, key, value);
      span.close(slot);
    }
  }

  void attribute(Recording span, String name, double value) {
    Key key = format.key(name);
    int slot = span.open(key);
    if (slot >= 0) {
      format.attribute(span.chain, key, value);
      span.close(slot);
    }
  }

  void attribute(Recording span, String name, boolean value) {
    Key key = format.key(name);
    int slot = span.open(key);
    if (slot >= 0) {
      format.attribute(span.chain, key, value);
      span.close(slot);
    }
  }

  void attribute(Recording span, AttributeKey<?> key, Object value) {
    switch (value) {
      case String text -> attribute(span, key.getKey(), text);
      case Long number -> attribute(span, key.getKey(), number.longValue());
      case Double number -> attribute(span, key.getKey(), number.doubleValue());
      case Boolean flag -> attribute(span, key.getKey(), flag.booleanValue());
      default -> {
        Key known = format.key(key.getKey());
        int slot = span.open(known);
        if (slot >= 0) {
          format.attribute(span.chain, known, limits.cut(value));
          span.close(slot);
        }
      }
    }
  }

  void event(Recording span, long epochNanos, String name, Attributes attributes) {
    if (span.events++ < limits.events()) {
      Attributes kept = kept(attributes, limits.eventAttributes());
      format.event(span.chain, epochNanos, name, kept, attributes.size() - kept.size());
    }
  }

  /** If the span has started, it is without the count of dropped attributes, as in the SDK. */
  void link(Recording span, SpanContext context, Attributes attributes, boolean started) {
    if (span.links++ < limits.links()) {
      Attributes kept = kept(attributes, limits.linkAttributes());
      format.link(span.chain, context, kept, started ? 0 : attributes.size() - kept.size());
    }
  }

  /**
   * The event of an exception. Attributes of the caller replace those of the exception.
   *
   * @param own what {@link #exceptionAttributes} returned
   */
  void exception(
      Recording span, long epochNanos, Map<AttributeKey<?>, Object> own, Attributes attributes) {
    if (span.events++ >= limits.events()) {
      return;
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    int[] rejected = new int[1];
    own.forEach((key, value) -> rejected[0] += keep(entries, key, value));
    attributes.forEach((key, value) -> rejected[0] += keep(entries, key, value));
    AttributesBuilder kept = Attributes.builder();
    entries.values().forEach(entry -> put(kept, entry.key(), entry.value()));
    format.event(span.chain, epochNanos, "exception", kept.build(), rejected[0]);
  }

  /** Keeps an attribute; returns 1 if it is one too many. */
  private int keep(Map<String, Entry> entries, AttributeKey<?> key, Object value) {
    if (entries.size() < limits.attributes() || entries.containsKey(key.getKey())) {
      entries.put(key.getKey(), new Entry(key, limits.cut(value)));
      return 0;
    }
    return 1;
  }

  private record Entry(AttributeKey<?> key, Object value) {}

  /** What an exception says of itself. It may call anything, even its span. */
  static Map<AttributeKey<?>, Object> exceptionAttributes(Throwable exception) {
    Map<AttributeKey<?>, Object> attributes = new LinkedHashMap<>();
    String type = exception.getClass().getCanonicalName();
    if (type != null) {
      attributes.put(AttributeKey.stringKey("exception.type"), type);
    }
    if (exception.getMessage() != null) {
      attributes.put(AttributeKey.stringKey("exception.message"), exception.getMessage());
    }
    StringWriter stack = new StringWriter();
    exception.printStackTrace(new PrintWriter(stack, true));
    attributes.put(AttributeKey.stringKey("exception.stacktrace"), stack.toString());
    return attributes;
  }

  private Attributes kept(Attributes attributes, int most) {
    if (attributes.size() <= most && limits.valueLength() == Integer.MAX_VALUE) {
      return attributes;
    }
    AttributesBuilder kept = Attributes.builder();
    int[] count = new int[1];
    attributes.forEach((key, value) -> {
      if (count[0]++ < most) {
        put(kept, key, limits.cut(value));
      }
    });
    return kept.build();
  }

  @SuppressWarnings("unchecked")
  private static void put(AttributesBuilder attributes, AttributeKey<?> key, Object value) {
    attributes.put((AttributeKey<Object>) key, value);
  }
}
