package tollbooth.telemetry.streaming;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import java.util.concurrent.ThreadLocalRandom;

/** The tracer of one scope. */
final class StreamingTracer implements Tracer {

  private static final String NO_NAME = "<unspecified span name>";
  private static final Tracer CLOSED = TracerProvider.noop().get("closed");

  /** The flag that says that the lower half of a trace's id is random. */
  private static final int RANDOM = 2;

  private static final int HEX = 16;

  final Pipeline pipeline;
  final byte[] scope;
  final SpanWriter writer;

  StreamingTracer(Pipeline pipeline, Scope scope) {
    this.pipeline = pipeline;
    this.scope = pipeline.format().scope(scope);
    writer = new SpanWriter(pipeline.format(), pipeline.limits());
  }

  @Override
  public SpanBuilder spanBuilder(String name) {
    if (pipeline.queue().isClosed()) {
      return CLOSED.spanBuilder(name);
    }
    return new StreamingSpanBuilder(this, name == null || name.isBlank() ? NO_NAME : name);
  }

  /**
   * Starts a span.
   *
   * @param given when it starts, in nanoseconds of the epoch; 0 for now
   * @param early what was recorded before the start; null if nothing was
   * @param recordable false if something should have been recorded and found no buffer
   */
  Span start(
      Span parent, String name, SpanKind kind, long given, Recording early, boolean recordable) {
    Sampler sampler = pipeline.sampler();
    long nowNanos = System.nanoTime();
    if (parent instanceof StreamingSpan local) {
      boolean sampled = sampler.samples(Sampler.Parent.SAMPLED, local.traceLow());
      StreamingSpan child =
          new StreamingSpan(
              this,
              local.traceHigh(),
              local.traceLow(),
              flags(local.flags(), sampled),
              local.traceState(),
              local.clockNanos(),
              name);
      return begin(child, local.id(), false, kind, time(child, given, nowNanos), early, recordable);
    }
    SpanContext context = parent.getSpanContext();
    long clockNanos = EpochClock.differenceNanos(nowNanos);
    if (!context.isValid()) {
      long high = ThreadLocalRandom.current().nextLong();
      long low = StreamingSpan.newId();
      int flags = flags(RANDOM, sampler.samples(Sampler.Parent.NONE, low));
      TraceState none = TraceState.getDefault();
      StreamingSpan root = new StreamingSpan(this, high, low, flags, none, clockNanos, name);
      return begin(root, 0, false, kind, time(root, given, nowNanos), early, recordable);
    }
    long high = Long.parseUnsignedLong(context.getTraceId(), 0, HEX, HEX);
    long low = Long.parseUnsignedLong(context.getTraceId(), HEX, 2 * HEX, HEX);
    boolean sampled = sampler.samples(Sampler.Parent.of(context), low);
    int flags = flags(context.getTraceFlags().asByte(), sampled);
    StreamingSpan span =
        new StreamingSpan(this, high, low, flags, context.getTraceState(), clockNanos, name);
    long parentId = Long.parseUnsignedLong(context.getSpanId(), HEX);
    long epochNanos = time(span, given, nowNanos);
    return begin(span, parentId, context.isRemote(), kind, epochNanos, early, recordable);
  }

  private static int flags(int parents, boolean sampled) {
    return parents & RANDOM | (sampled ? StreamingSpan.SAMPLED : 0);
  }

  private static long time(StreamingSpan span, long given, long nowNanos) {
    return given == 0 ? span.clockNanos() + nowNanos : given;
  }

  private Span begin(
      StreamingSpan span,
      long parentId,
      boolean parentIsRemote,
      SpanKind kind,
      long epochNanos,
      Recording early,
      boolean recordable) {
    RecordingPool recordings = pipeline.recordings();
    if (!span.isSampled()) {
      if (early != null) {
        recordings.give(early);
      }
      return Span.wrap(span.getSpanContext());
    }
    Recording recording = early == null && recordable ? recordings.take() : early;
    if (recording != null) {
      recording.startEpochNanos = epochNanos;
      pipeline.format().start(recording.chain, span, parentId, parentIsRemote, kind, epochNanos);
    }
    span.start(recording);
    return span;
  }
}
