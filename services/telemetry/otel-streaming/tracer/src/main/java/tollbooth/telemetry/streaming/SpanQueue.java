package tollbooth.telemetry.streaming;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import tollbooth.telemetry.recorder.Ledger;
import tollbooth.telemetry.recorder.Message;
import tollbooth.telemetry.recorder.Source;

/** Ended spans on their way from many threads to the recorder's. */
final class SpanQueue implements Source {

  private final MpscAtomicArrayQueue<Recording> queue;
  private final int half;
  private final Wire wire;
  private final Ledger ledger;
  private final AtomicBoolean woken = new AtomicBoolean();
  private volatile Runnable wake = () -> {};
  private volatile boolean closed;

  /**
   * Makes an empty queue.
   *
   * @param capacity in spans; rounded up to a power of two
   */
  SpanQueue(int capacity, Wire wire, Ledger ledger) {
    this(new MpscAtomicArrayQueue<>(capacity), wire, ledger);
  }

  SpanQueue(MpscAtomicArrayQueue<Recording> queue, Wire wire, Ledger ledger) {
    this.queue = queue;
    half = Math.max(1, queue.capacity() / 2);
    this.wire = wire;
    this.ledger = ledger;
    ledger.queuedBy(queue::currentProducerIndex);
  }

  /** Says what to call when the queue is half full. It must not block. */
  void whenHalfFull(Runnable call) {
    wake = call;
  }

  /** Takes an ended span, or drops and counts it. Never blocks. */
  void add(Recording span) {
    span.message.over(wire);
    if (!queue.offer(span)) {
      ledger.countNotQueued();
      ledger.countQueueFull();
      wire.recordings().give(span);
    } else if (closed) {
      giveUpAll();
    } else if (!woken.get() && queue.size() >= half && woken.compareAndSet(false, true)) {
      // Once until the queue was empty: waking again would not make the recorder faster.
      wake.run();
    }
  }

  @Override
  public Message poll() {
    Recording span = queue.poll();
    if (span == null) {
      woken.set(false);
      return null;
    }
    return span.message;
  }

  @Override
  public long offered() {
    return queue.currentProducerIndex();
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Whether nothing takes spans any more. */
  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    giveUpAll();
  }

  /**
   * Nobody else takes spans any more. Whoever adds one gives it up after that, so that none is left
   * over.
   */
  private synchronized void giveUpAll() {
    for (Recording span = queue.poll(); span != null; span = queue.poll()) {
      ledger.countGivenUp(1);
      wire.recordings().give(span);
    }
  }
}
