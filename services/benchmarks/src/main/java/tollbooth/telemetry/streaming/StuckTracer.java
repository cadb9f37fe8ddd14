package tollbooth.telemetry.streaming;

import java.time.Duration;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import tollbooth.telemetry.recorder.Sender;
import tollbooth.telemetry.recorder.Source;

/** The streaming tracer whose spans nobody takes: once its queue is full, it drops each one. */
public final class StuckTracer {

  private StuckTracer() {}

  /** Starts a tracer with an empty queue. */
  public static StreamingTracerProvider start(int queueSize) {
    return QueueTracer.start(
        new MpscAtomicArrayQueue<>(queueSize), (queue, ledger) -> new Stuck(queue));
  }

  private record Stuck(Source source) implements Sender {

    @Override
    public void wake() {}

    @Override
    public boolean flush(Duration timeout) {
      return false;
    }

    @Override
    public void close(Duration timeout) {
      source.close();
    }
  }
}
