package tollbooth.telemetry.streaming;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import tollbooth.telemetry.recorder.Discarder;

/**
 * The streaming tracer with a lock around its queue, and no other difference. The queue within
 * stays the lock-free one, where a plain queue would do. So this is an upper bound of what a mutex
 * costs.
 */
public final class MutexTracer {

  private static final Duration LOOK = Duration.ofMillis(100);

  private MutexTracer() {}

  /** Starts a tracer that discards its spans. */
  public static StreamingTracerProvider start(int queueSize) {
    return QueueTracer.start(
        new LockedQueue<>(queueSize), (queue, ledger) -> Discarder.start(queue, ledger, LOOK));
  }

  private static final class LockedQueue<E> extends MpscAtomicArrayQueue<E> {

    private final ReentrantLock lock = new ReentrantLock();

    LockedQueue(int capacity) {
      super(capacity);
    }

    @Override
    public boolean offer(E element) {
      lock.lock();
      try {
        return super.offer(element);
      } finally {
        lock.unlock();
      }
    }

    @Override
    public E poll() {
      lock.lock();
      try {
        return super.poll();
      } finally {
        lock.unlock();
      }
    }
  }
}
