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
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import tollbooth.telemetry.recorder.Ledger;

/**
 * A span. It has no attributes, events or links itself: they are bytes of its recording, which it
 * gives away at its end. One thread at a time is in a call that changes it; another one waits for
 * the less than a microsecond that the call takes. That takes one atomic operation, and a lock of
 * the JVM two.
 */
final class StreamingSpan implements Span {

  static final int SAMPLED = 1;

  private static final VarHandle STATE = state();

  /** States: not started, or a thread is in a call. */
  private static final int BUSY = 0;

  private static final int IDLE = 1;
  private static final int ENDED = 2;

  /** How often to look whether the other thread's call is over before giving up the processor. */
  private static final int LOOKS = 100;

  /** How often to give it up before pausing. */
  private static final int YIELDS = 100;

  private static final long PAUSE_NANOS = 50_000;

  private final StreamingTracer tracer;
  private final long traceHigh;
  private final long traceLow;
  private final long id = newId();
  private final byte flags;
  private final TraceState traceState;

  /** The epoch's time minus that of {@link System#nanoTime}, as at the start of the local root. */
  private final long clockNanos;

  private volatile int state;

  /** Made on demand; several threads may make the same. */
  private SpanContext context;

  private String name;
  private StatusCode status = StatusCode.UNSET;
  private String description = "";

  /** Null after the end, and where no buffer was left for it. */
  private Recording recording;

  /** Whether the recording was given back because the span was too large. */
  private boolean tooLarge;

  /** The same, because an exception broke it. */
  private boolean broken;

  /**
   * Makes a span that has yet to be started.
   *
   * @param flags the trace's
   */
  StreamingSpan(
      StreamingTracer tracer,
      long traceHigh,
      long traceLow,
      int flags,
      TraceState traceState,
      long clockNanos,
      String name) {
    this.tracer = tracer;
    this.traceHigh = traceHigh;
    this.traceLow = traceLow;
    this.flags = (byte) flags;
    this.traceState = traceState;
    this.clockNanos = clockNanos;
    this.name = name;
  }

  private static VarHandle state() {
    try {
      return MethodHandles.lookup().findVarHandle(StreamingSpan.class, "state", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** A random number other than 0. */
  static long newId() {
    long id;
    do {
      id = ThreadLocalRandom.current().nextLong();
    } while (id == 0);
    return id;
  }

  /**
   * Starts the span.
   *
   * @param taken null if no buffer was left for it
   */
  void start(Recording taken) {
    recording = taken;
    leave();
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

  boolean isSampled() {
    return (flags & SAMPLED) != 0;
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

  /** Begins a call that changes the span; {@link #leave} must follow. False after the end. */
  private boolean enter() {
    return STATE.compareAndSet(this, IDLE, BUSY) || enterAfterAnother();
  }

  private boolean enterAfterAnother() {
    for (int looks = 0; state != ENDED; looks++) {
      if (state == IDLE && STATE.compareAndSet(this, IDLE, BUSY)) {
        return true;
      }
      if (looks < LOOKS) {
        Thread.onSpinWait();
      } else if (looks < LOOKS + YIELDS) {
        Thread.yield();
      } else {
        // Virtual threads that only yield may leave no processor to the one that they wait for.
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return false;
  }

  /** As {@link #enter}. False, too, where no buffer was left: then there is nothing to do. */
  private boolean enterRecording() {
    if (!enter()) {
      return false;
    }
    if (recording == null) {
      leave();
      return false;
    }
    return true;
  }

  private void leave() {
    try {
      giveUpWhereFailed();
    } finally {
      STATE.setRelease(this, IDLE);
    }
  }

  /** Gives the buffers back as soon as their bytes are worthless. */
  private void giveUpWhereFailed() {
    if (recording != null && recording.chain.failure() != null) {
      Recording failed = recording;
      tooLarge = failed.chain.failure() == Chain.Failure.TOO_LARGE;
      broken = failed.chain.failure() == Chain.Failure.BROKEN;
      recording = null;
      tracer.pipeline.recordings().give(failed);
    }
  }

  @Override
  public Span setAttribute(String key, String value) {
    if (key != null && !key.isEmpty() && value != null && enterRecording()) {
      try {
        writer().attribute(recording, key, value);
      } finally {
        leave();
      }
    }
    return this;
  }

  @Override
  public Span setAttribute(String key, long value) {
    if (key != null && !key.isEmpty() && enterRecording()) {
      try {
        writer().attribute(recording, key, value);
      } finally {
        leave();
      }
    }
    return this;
  }

  @Override
  public Span setAttribute(String key, double value) {
    if (key != null && !key.isEmpty() && enterRecording()) {
      try {
        writer().attribute(recording, key, value);
      } finally {
        leave();
      }
    }
    return this;
  }

  @Override
  public Span setAttribute(String key, boolean value) {
    if (key != null && !key.isEmpty() && enterRecording()) {
      try {
        writer().attribute(recording, key, value);
      } finally {
        leave();
      }
    }
    return this;
  }

  @Override
  public <T> Span setAttribute(AttributeKey<T> key, T value) {
    if (key == null || key.getKey().isEmpty() || value == null) {
      return this;
    }
    Object own = own(value);
    if (enterRecording()) {
      try {
        writer().attribute(recording, key, own);
      } finally {
        leave();
      }
    }
    return this;
  }

  /** A value that stays as it is: the caller's list may change, or call this span. */
  static Object own(Object value) {
    return value instanceof List<?> list ? new ArrayList<>(list) : value;
  }

  @Override
  public Span addEvent(String name, Attributes attributes) {
    return event(name, attributes, now());
  }

  @Override
  public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
    return unit == null ? this : event(name, attributes, unit.toNanos(timestamp));
  }

  private Span event(String name, Attributes attributes, long epochNanos) {
    if (name != null && enterRecording()) {
      try {
        writer().event(recording, epochNanos, name, orEmpty(attributes));
      } finally {
        leave();
      }
    }
    return this;
  }

  static Attributes orEmpty(Attributes attributes) {
    return attributes == null ? Attributes.empty() : attributes;
  }

  @Override
  public Span recordException(Throwable exception, Attributes additional) {
    if (exception == null || !isRecording()) {
      return this;
    }
    Map<AttributeKey<?>, Object> own = SpanWriter.exceptionAttributes(exception);
    if (enterRecording()) {
      try {
        writer().exception(recording, now(), own, orEmpty(additional));
      } finally {
        leave();
      }
    }
    return this;
  }

  @Override
  public Span addLink(SpanContext linked, Attributes attributes) {
    if (linked != null && linked.isValid() && enterRecording()) {
      try {
        writer().link(recording, linked, orEmpty(attributes), true);
      } finally {
        leave();
      }
    }
    return this;
  }

  /** OK is final, UNSET is no status, and only an error has a description. */
  @Override
  public Span setStatus(StatusCode code, String text) {
    if (code != null && code != StatusCode.UNSET && enter()) {
      if (status != StatusCode.OK) {
        status = code;
        description = code == StatusCode.ERROR && text != null ? text : "";
      }
      leave();
    }
    return this;
  }

  @Override
  public Span updateName(String newName) {
    if (newName != null && enter()) {
      name = newName;
      leave();
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
    if (!enter()) {
      return;
    }
    Recording done;
    try {
      if (recording != null) {
        finish(epochNanos);
        giveUpWhereFailed();
      }
    } catch (Throwable thrown) {
      recording.chain.breakOff();
      giveUpWhereFailed();
      drop(tracer.pipeline.ledger());
      throw thrown;
    } finally {
      done = recording;
      recording = null;
      STATE.setRelease(this, ENDED);
    }
    if (done != null) {
      tracer.pipeline.queue().add(done);
    } else {
      drop(tracer.pipeline.ledger());
    }
  }

  private void drop(Ledger ledger) {
    ledger.countNotQueued();
    if (tooLarge) {
      ledger.countTooLarge();
    } else if (broken) {
      ledger.countGivenUp(1);
    } else {
      ledger.countQueueFull();
    }
  }

  private void finish(long epochNanos) {
    recording.setScope(tracer.scope);
    recording.removeReplaced();
    tracer.pipeline.format().end(recording, name, epochNanos, status, description);
  }

  @Override
  public SpanContext getSpanContext() {
    SpanContext known = context;
    if (known == null) {
      known =
          SpanContext.create(
              TraceId.fromLongs(traceHigh, traceLow),
              SpanId.fromLong(id),
              TraceFlags.fromByte(flags),
              traceState);
      context = known;
    }
    return known;
  }

  @Override
  public boolean isRecording() {
    return state != ENDED;
  }
}
