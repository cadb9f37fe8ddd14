package tollbooth.telemetry.streaming;

import java.lang.ref.Cleaner;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;

/**
 * Buffers for reuse, and the bound on how many exist. A span that is never ended loses its buffers
 * to the garbage collector; then they no longer count.
 */
final class BufferPool {

  private static final Cleaner CLEANER = Cleaner.create();

  private final int most;
  private final AtomicInteger existing = new AtomicInteger();
  private final Queue<Buffer> free;

  /**
   * Makes an empty pool.
   *
   * @param most the number of buffers that may exist, at least 2
   */
  BufferPool(int most) {
    this.most = most;
    free = new MpmcAtomicArrayQueue<>(most);
  }

  /** An empty buffer; null if all are in use. Never blocks. */
  Buffer take() {
    Buffer buffer = free.poll();
    return buffer != null ? buffer : create();
  }

  private Buffer create() {
    if (existing.incrementAndGet() > most) {
      existing.decrementAndGet();
      return null;
    }
    Buffer buffer = new Buffer();
    AtomicInteger counted = existing;
    CLEANER.register(buffer, counted::decrementAndGet);
    return buffer;
  }

  /** Takes back a chain of buffers. The caller must not use them any more. */
  void give(Buffer chain) {
    Buffer buffer = chain;
    while (buffer != null) {
      Buffer next = buffer.next;
      buffer.next = null;
      free.offer(buffer);
      buffer = next;
    }
  }

  /** The number of buffers that may exist. */
  int most() {
    return most;
  }

  /** The number of buffers that exist, in use or free. */
  int existing() {
    return existing.get();
  }
}
