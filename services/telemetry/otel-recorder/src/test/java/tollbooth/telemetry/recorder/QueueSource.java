package tollbooth.telemetry.recorder;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** An unbounded queue of numbered messages, with their ledger. */
final class QueueSource implements Source {

  final Ledger ledger = new Ledger();
  final AtomicInteger releases = new AtomicInteger();
  private final Queue<Message> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong offered = new AtomicLong();
  volatile boolean closed;

  QueueSource() {
    ledger.queuedBy(offered::get);
  }

  /** Puts in messages of this size with the numbers from {@code first} on. */
  void put(long first, int count, int sizeBytes) {
    for (int i = 0; i < count; i++) {
      queue.add(new BytesMessage(first + i, sizeBytes, releases));
      offered.incrementAndGet();
    }
  }

  @Override
  public Message poll() {
    return queue.poll();
  }

  @Override
  public long offered() {
    return offered.get();
  }

  @Override
  public void close() {
    closed = true;
  }
}
