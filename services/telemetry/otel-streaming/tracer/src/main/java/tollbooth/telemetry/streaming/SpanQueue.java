package tollbooth.telemetry.streaming;

import java.util.Queue;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;

/** Ended spans on their way from many threads to one. */
final class SpanQueue {

  private final Queue<Recording> queue;
  private final RecordingPool recordings;
  private final Ledger ledger;

  /**
   * Makes an empty queue.
   *
   * @param capacity in spans; rounded up to a power of two
   */
  SpanQueue(int capacity, RecordingPool recordings, Ledger ledger) {
    queue = new MpscAtomicArrayQueue<>(capacity);
    this.recordings = recordings;
    this.ledger = ledger;
  }

  /** Takes an ended span, or drops and counts it. Never blocks. */
  void add(Recording span) {
    if (!queue.offer(span)) {
      ledger.countQueueFull();
      recordings.give(span);
    }
  }

  /** The oldest span; null if there is none. For one thread only. */
  Recording poll() {
    return queue.poll();
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }
}
