package tollbooth.exportermodel;

import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Exports on a thread of its own. It shares the buffer with the loop, so both lock a mutex: as long
 * as it takes to add a span, or to take all of them.
 */
final class ThreadExporter implements SpanExporter {

  /** What may wait while the thread waits for the receiver: some 30 MB. */
  private static final int MOST_WAITING = 65_536;

  private final int minFlushSpans;
  private final Counters counters;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition due = mutex.newCondition();
  private final Thread thread;
  private List<Span> waiting = new ArrayList<>();
  private boolean flushing;

  ThreadExporter(int minFlushSpans, Consumer<List<Span>> export, Counters counters) {
    this.minFlushSpans = minFlushSpans;
    this.counters = counters;
    thread = Thread.ofPlatform().daemon().name("exporter").start(() -> run(export));
  }

  @Override
  public void add(Span span) {
    mutex.lock();
    try {
      if (waiting.size() == MOST_WAITING) {
        counters.spansDropped.increment();
        return;
      }
      waiting.add(span);
      if (waiting.size() >= minFlushSpans) {
        due.signal();
      }
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void flush() {
    mutex.lock();
    try {
      flushing = true;
      due.signal();
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }

  private void run(Consumer<List<Span>> export) {
    try {
      while (true) {
        List<Span> taken = taken();
        if (!taken.isEmpty()) {
          export.accept(taken);
        }
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private List<Span> taken() throws InterruptedException {
    mutex.lockInterruptibly();
    try {
      while (waiting.size() < minFlushSpans && !flushing) {
        due.await();
      }
      flushing = false;
      List<Span> taken = waiting;
      waiting = new ArrayList<>();
      return taken;
    } finally {
      mutex.unlock();
    }
  }
}
