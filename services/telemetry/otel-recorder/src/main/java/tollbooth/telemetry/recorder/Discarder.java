package tollbooth.telemetry.recorder;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Takes messages and drops them as acknowledged: all that spans cost before they are sent. */
public final class Discarder implements Sender {

  private final Source source;
  private final Ledger ledger;
  private final LookInterval look;
  private final Thread thread;
  private volatile boolean closing;

  /** Messages so far; guarded by this object's monitor. */
  private long taken;

  private boolean ended;

  private Discarder(Source source, Ledger ledger, Duration interval) {
    this.source = source;
    this.ledger = ledger;
    look = new LookInterval(interval);
    thread = Thread.ofPlatform().daemon().name("span-recorder").unstarted(this::run);
  }

  /**
   * Starts to discard.
   *
   * @param interval how often the queue is looked at while spans come and nobody wakes it
   */
  public static Discarder start(Source source, Ledger ledger, Duration interval) {
    Discarder discarder = new Discarder(source, ledger, interval);
    discarder.thread.start();
    return discarder;
  }

  @Override
  public void wake() {
    LockSupport.unpark(thread);
  }

  @Override
  public synchronized boolean flush(Duration timeout) {
    long target = source.offered();
    long endNanos = System.nanoTime() + timeout.toNanos();
    wake();
    try {
      while (taken < target && !ended) {
        long leftNanos = endNanos - System.nanoTime();
        if (leftNanos <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
      }
      return taken >= target;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public void close(Duration timeout) {
    closing = true;
    wake();
    try {
      thread.join(timeout);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closing) {
      if (!takeSome()) {
        LockSupport.parkNanos(this, look.nextNanos(source.offered(), System.nanoTime()));
      }
    }
    // Not what comes meanwhile: under load that would never end.
    long last = source.offered();
    while (taken < last && takeSome()) {
      // Goes on.
    }
    source.close();
    synchronized (this) {
      ended = true;
      notifyAll();
    }
  }

  /** Not all at once, since somebody may wait. Returns whether there may be more. */
  private boolean takeSome() {
    int spans = 0;
    Message message = null;
    while (spans < 256 && (message = source.poll()) != null) {
      message.release();
      spans++;
    }
    ledger.countAcknowledged(spans);
    synchronized (this) {
      taken += spans;
      notifyAll();
    }
    return message != null;
  }
}
