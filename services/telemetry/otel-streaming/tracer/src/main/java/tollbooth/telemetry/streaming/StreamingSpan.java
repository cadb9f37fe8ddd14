package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import java.util.concurrent.TimeUnit;

/**
 * A sampled span. It has no attributes, events or links itself: they are bytes of its recording,
 * which it gives away at its end. Its own monitor guards what changes: one object fewer per span.
 */
final class StreamingSpan implements Span {

  /** What a span's ids and clock are. */
  record Identity(
      long traceHigh, long traceLow, long id, int flags, TraceState traceState, long clockNanos) {}

  private final StreamingTracer tracer;
  private final long traceHigh;
  private final long traceLow;
  private final long id;
  private final byte flags;
  private final TraceState traceState;

  /** The epoch's time minus that of {@link System#nanoTime}, as at the start of the local root. */
  private final long clockNanos;

  /** Made when it is asked for. */
  private SpanContext context;

  private String name;
  private StatusCode status = StatusCode.UNSET;
  private String description = "";
  private boolean ended;

  /** Null after the end, and where no buffer was left for it. */
  private Recording recording;

  private Chain.Failure failure;

  /**
   * Makes a started span.
   *
   * @param recording null if no buffer was left for it
   */
  StreamingSpan(StreamingTracer tracer, Identity identity, String name, Recording recording) {
    this.tracer = tracer;
    traceHigh = identity.traceHigh();
    traceLow = identity.traceLow();
    id = identity.id();
    flags = (byte) identity.flags();
    traceState = identity.traceState();
    clockNanos = identity.clockNanos();
    this.name = name;
    this.recording = recording;
    failure = recording == null ? Chain.Failure.NO_BUFFER_LEFT : null;
    giveUpWhereFailed();
  }

  long traceHigh() {
    return traceHigh;
  }

  long traceLow() {
    return traceLow;
  }

  long id() {
    return id;
  }

  int flags() {
    return flags;
  }

  TraceState traceState() {
    return traceState;
  }

  long clockNanos() {
    return clockNanos;
  }

  private SpanWriter writer() {
    return tracer.writer;
  }

  private long now() {
    return clockNanos + System.nanoTime();
  }

  /** Gives the buffers back as soon as their bytes are worthless. */
  private void giveUpWhereFailed() {
    if (recording != null && recording.chain.failure() != null) {
      failure = recording.chain.failure();
      tracer.pipeline.recordings().give(recording);
      recording = null;
    }
  }

  @Override
  public synchronized Span setAttribute(String key, String value) {
    if (recording != null && key != null && !key.isEmpty() && value != null) {
      writer().attribute(recording, key, value);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized Span setAttribute(String key, long value) {
    if (recording != null && key != null && !key.isEmpty()) {
      writer().attribute(recording, key, value);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized Span setAttribute(String key, double value) {
    if (recording != null && key != null && !key.isEmpty()) {
      writer().attribute(recording, key, value);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized Span setAttribute(String key, boolean value) {
    if (recording != null && key != null && !key.isEmpty()) {
      writer().attribute(recording, key, value);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized <T> Span setAttribute(AttributeKey<T> key, T value) {
    if (recording != null && key != null && !key.getKey().isEmpty() && value != null) {
      writer().attribute(recording, key, value);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public Span addEvent(String name, Attributes attributes) {
    return event(name, attributes, now());
  }

  @Override
  public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
    return unit == null ? this : event(name, attributes, unit.toNanos(timestamp));
  }

  private synchronized Span event(String name, Attributes attributes, long epochNanos) {
    if (recording != null && name != null) {
      writer()
          .event(recording, epochNanos, name, attributes == null ? Attributes.empty() : attributes);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized Span recordException(Throwable exception, Attributes additional) {
    if (recording != null && exception != null) {
      writer()
          .exception(
              recording, now(), exception, additional == null ? Attributes.empty() : additional);
      giveUpWhereFailed();
    }
    return this;
  }

  @Override
  public synchronized Span addLink(SpanContext linked, Attributes attributes) {
    if (recording != null && linked != null && linked.isValid()) {
      writer().lateLink(recording, linked, attributes == null ? Attributes.empty() : attributes);
      giveUpWhereFailed();
    }
    return this;
  }

  /** OK is final, UNSET is no status, and only an error has a description. */
  @Override
  public synchronized Span setStatus(StatusCode code, String text) {
    if (!ended && code != null && code != StatusCode.UNSET && status != StatusCode.OK) {
      status = code;
      description = code == StatusCode.ERROR && text != null ? text : "";
    }
    return this;
  }

  @Override
  public synchronized Span updateName(String newName) {
    if (!ended && newName != null) {
      name = newName;
    }
    return this;
  }

  @Override
  public void end() {
    endAt(now());
  }

  @Override
  public void end(long timestamp, TimeUnit unit) {
    long nanos = unit == null ? timestamp : unit.toNanos(timestamp);
    endAt(nanos == 0 ? now() : nanos);
  }

  private void endAt(long epochNanos) {
    Recording done;
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      if (recording != null) {
        finish(epochNanos);
        giveUpWhereFailed();
      }
      done = recording;
      recording = null;
    }
    Pipeline pipeline = tracer.pipeline;
    pipeline.ledger().countEnded();
    if (done != null) {
      pipeline.queue().add(done);
    } else if (failure == Chain.Failure.TOO_LARGE) {
      pipeline.ledger().countTooLarge();
    } else {
      pipeline.ledger().countQueueFull();
    }
  }

  private void finish(long epochNanos) {
    recording.scope = tracer.scope;
    recording.removeReplaced();
    Limits limits = tracer.pipeline.limits();
    tracer
        .pipeline
        .format()
        .end(
            recording.chain,
            new WireFormat.End(
                name,
                recording.startEpochNanos,
                epochNanos,
                status,
                description,
                recording.droppedAttributes(),
                Math.max(0, recording.events - limits.events()),
                Math.max(0, recording.links - limits.links())));
  }

  @Override
  public synchronized SpanContext getSpanContext() {
    if (context == null) {
      context =
          SpanContext.create(
              TraceId.fromLongs(traceHigh, traceLow),
              SpanId.fromLong(id),
              TraceFlags.fromByte(flags),
              traceState);
    }
    return context;
  }

  @Override
  public synchronized boolean isRecording() {
    return !ended;
  }
}
