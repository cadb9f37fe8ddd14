package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;

/** Serializes attributes and links as they come; they are lost if the span is not sampled. */
final class StreamingSpanBuilder implements SpanBuilder {

  private final StreamingTracer tracer;
  private final String name;
  private Context parent;
  private SpanKind kind = SpanKind.INTERNAL;
  private long startEpochNanos;
  private Recording recording;
  private boolean lacksBuffer;

  StreamingSpanBuilder(StreamingTracer tracer, String name) {
    this.tracer = tracer;
    this.name = name;
  }

  @Override
  public SpanBuilder setParent(Context context) {
    if (context != null) {
      parent = context;
    }
    return this;
  }

  @Override
  public SpanBuilder setNoParent() {
    parent = Context.root();
    return this;
  }

  @Override
  public SpanBuilder setSpanKind(SpanKind newKind) {
    if (newKind != null) {
      kind = newKind;
    }
    return this;
  }

  @Override
  public SpanBuilder setStartTimestamp(long timestamp, TimeUnit unit) {
    if (timestamp >= 0 && unit != null) {
      startEpochNanos = unit.toNanos(timestamp);
    }
    return this;
  }

  @Override
  public SpanBuilder addLink(SpanContext linked) {
    return addLink(linked, Attributes.empty());
  }

  @Override
  public SpanBuilder addLink(SpanContext linked, Attributes attributes) {
    if (linked != null && linked.isValid() && recording()) {
      tracer.writer.link(recording, linked, StreamingSpan.orEmpty(attributes), false);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, String value) {
    if (key != null && !key.isEmpty() && value != null && recording()) {
      tracer.writer.attribute(recording, key, value);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, long value) {
    if (key != null && !key.isEmpty() && recording()) {
      tracer.writer.attribute(recording, key, value);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, double value) {
    if (key != null && !key.isEmpty() && recording()) {
      tracer.writer.attribute(recording, key, value);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, boolean value) {
    if (key != null && !key.isEmpty() && recording()) {
      tracer.writer.attribute(recording, key, value);
    }
    return this;
  }

  @Override
  public <T> SpanBuilder setAttribute(AttributeKey<T> key, T value) {
    if (key != null && !key.getKey().isEmpty() && value != null && recording()) {
      tracer.writer.attribute(recording, key, StreamingSpan.own(value));
    }
    return this;
  }

  /**
   * Takes a recording if there is none yet; false if no buffer is left. Then it takes none later: a
   * span without its first attributes would be sent as if it were complete.
   */
  private boolean recording() {
    if (recording == null && !lacksBuffer) {
      recording = tracer.pipeline.recordings().take();
      lacksBuffer = recording == null;
    }
    return recording != null;
  }

  @Override
  public Span startSpan() {
    Span parentSpan = Span.fromContext(parent == null ? Context.current() : parent);
    Recording early = recording;
    boolean recordable = !lacksBuffer;
    recording = null;
    lacksBuffer = false;
    // Elsewhere, so that the compiler can leave this object out.
    return tracer.start(parentSpan, name, kind, startEpochNanos, early, recordable);
  }
}
