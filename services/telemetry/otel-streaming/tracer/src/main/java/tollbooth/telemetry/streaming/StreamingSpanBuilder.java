package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Serializes attributes and links as they come; they are lost if the span is not sampled. */
final class StreamingSpanBuilder implements SpanBuilder {

  private static final int SAMPLED = 1;
  private static final int RANDOM = 2;
  private static final int HEX = 16;

  private final StreamingTracer tracer;
  private final String name;
  private Context parent;
  private SpanKind kind = SpanKind.INTERNAL;
  private long startEpochNanos;
  private Recording recording;

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
      tracer.writer.link(recording, linked, attributes == null ? Attributes.empty() : attributes);
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
      tracer.writer.attribute(recording, key, value);
    }
    return this;
  }

  /** Takes a recording if there is none yet; false if no buffer is left. */
  private boolean recording() {
    if (recording == null) {
      recording = tracer.pipeline.recordings().take();
    }
    return recording != null;
  }

  @Override
  public Span startSpan() {
    Span parentSpan = Span.fromContext(parent == null ? Context.current() : parent);
    return parentSpan instanceof StreamingSpan local
        ? childOf(local)
        : start(parentSpan.getSpanContext());
  }

  private Span childOf(StreamingSpan local) {
    boolean sampled = tracer.pipeline.sampler().samples(Sampler.Parent.SAMPLED, local.traceLow());
    return start(
        identity(
            local.traceHigh(),
            local.traceLow(),
            local.flags() & RANDOM | (sampled ? SAMPLED : 0),
            local.traceState(),
            local.clockNanos()),
        local.id(),
        false);
  }

  private Span start(SpanContext remote) {
    Sampler sampler = tracer.pipeline.sampler();
    if (!remote.isValid()) {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      long low = nonZero(random);
      boolean sampled = sampler.samples(Sampler.Parent.NONE, low);
      int flags = RANDOM | (sampled ? SAMPLED : 0);
      return start(
          identity(random.nextLong(), low, flags, TraceState.getDefault(), clock()), 0, false);
    }
    long low = Long.parseUnsignedLong(remote.getTraceId(), HEX, 2 * HEX, HEX);
    boolean sampled = sampler.samples(Sampler.Parent.of(remote), low);
    int flags = remote.getTraceFlags().asByte() & RANDOM | (sampled ? SAMPLED : 0);
    long high = Long.parseUnsignedLong(remote.getTraceId(), 0, HEX, HEX);
    return start(
        identity(high, low, flags, remote.getTraceState(), clock()),
        Long.parseUnsignedLong(remote.getSpanId(), HEX),
        remote.isRemote());
  }

  private static StreamingSpan.Identity identity(
      long traceHigh, long traceLow, int flags, TraceState state, long clockNanos) {
    long id = nonZero(ThreadLocalRandom.current());
    return new StreamingSpan.Identity(traceHigh, traceLow, id, flags, state, clockNanos);
  }

  private Span start(StreamingSpan.Identity identity, long parentId, boolean parentIsRemote) {
    boolean sampled = (identity.flags() & SAMPLED) != 0;
    Recording taken = sampled && !recording() ? null : recording;
    recording = null;
    if (!sampled) {
      return unsampled(identity, taken);
    }
    if (taken != null) {
      long epochNanos =
          startEpochNanos == 0 ? identity.clockNanos() + System.nanoTime() : startEpochNanos;
      taken.startEpochNanos = epochNanos;
      tracer
          .pipeline
          .format()
          .start(
              taken.chain,
              new WireFormat.Start(
                  identity.traceHigh(),
                  identity.traceLow(),
                  identity.id(),
                  parentId,
                  OtlpFormat.traceState(identity.traceState()),
                  identity.flags(),
                  parentIsRemote,
                  kind,
                  epochNanos));
    }
    return new StreamingSpan(tracer, identity, name, taken);
  }

  private Span unsampled(StreamingSpan.Identity identity, Recording taken) {
    if (taken != null) {
      tracer.pipeline.recordings().give(taken);
    }
    return Span.wrap(
        SpanContext.create(
            TraceId.fromLongs(identity.traceHigh(), identity.traceLow()),
            SpanId.fromLong(identity.id()),
            TraceFlags.fromByte((byte) identity.flags()),
            identity.traceState()));
  }

  private static long nonZero(ThreadLocalRandom random) {
    long value;
    do {
      value = random.nextLong();
    } while (value == 0);
    return value;
  }

  /** The epoch's time minus that of {@link System#nanoTime}. */
  private static long clock() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - System.nanoTime();
  }
}
