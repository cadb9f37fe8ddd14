package tollbooth.telemetry.recorder;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** An unbounded queue of numbered messages, with their ledger. */
final class QueueSource implements Source {

  final Ledger ledger = new Ledger();
  final AtomicInteger releases = new AtomicInteger();

  /** How often the recorder asked how many messages came: once each time it looks around. */
  final AtomicInteger looks = new AtomicInteger();

  /** What the next look into the queue throws. */
  final AtomicReference<Error> broken = new AtomicReference<>();

  private final Queue<Message> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong offered = new AtomicLong();
  volatile boolean closed;

  /** Whether each look finds one more message. */
  volatile boolean endless;

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
    Error thrown = broken.getAndSet(null);
    if (thrown != null) {
      throw thrown;
    }
    if (endless) {
      put(0, 1, BytesMessage.LEAST_BYTES);
    }
    return queue.poll();
  }

  @Override
  public long offered() {
    looks.incrementAndGet();
    return offered.get();
  }

  @Override
  public void close() {
    closed = true;
  }
}
