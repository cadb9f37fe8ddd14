package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.Attributes;
import java.util.function.BiFunction;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import tollbooth.telemetry.recorder.Ledger;
import tollbooth.telemetry.recorder.Sender;

/** The streaming tracer with a queue, and what empties it, that no variable can choose. */
final class QueueTracer {

  private QueueTracer() {}

  static StreamingTracerProvider start(
      MpscAtomicArrayQueue<Recording> ended, BiFunction<SpanQueue, Ledger, Sender> starter) {
    Limits limits = Limits.DEFAULT;
    Ledger ledger = new Ledger();
    WireFormat format = new OtlpFormat(Attributes.empty());
    RecordingPool recordings = new RecordingPool(new BufferPool(4 * ended.capacity()), limits);
    SpanQueue queue = new SpanQueue(ended, new Wire(format, false, recordings), ledger);
    Pipeline pipeline =
        new Pipeline(
            Sampler.parentBased(Sampler.ALWAYS_ON), limits, format, recordings, queue, ledger);
    return new StreamingTracerProvider(pipeline, starter.apply(queue, ledger));
  }
}
