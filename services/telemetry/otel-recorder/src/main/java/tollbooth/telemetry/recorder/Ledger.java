package tollbooth.telemetry.recorder;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What became of every ended span. Any thread may read it. */
public final class Ledger {

  private final LongAdder notQueued = new LongAdder();
  private final LongAdder queueFull = new LongAdder();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong tooLarge = new AtomicLong();
  private final AtomicLong rejected = new AtomicLong();
  private final AtomicLong givenUp = new AtomicLong();
  private final AtomicLong resent = new AtomicLong();
  private volatile LongSupplier queued = () -> 0;

  /**
   * Says who counts the ended spans that got into the queue: the queue does it anyway.
   *
   * @param count how many so far
   */
  public void queuedBy(LongSupplier count) {
    queued = count;
  }

  /** Counts a span that ended and did not get into the queue. */
  public void countNotQueued() {
    notQueued.increment();
  }

  /** Counts a span that found no room: the queue was full, or all buffers were in use. */
  public void countQueueFull() {
    queueFull.increment();
  }

  void countAcknowledged(long spans) {
    acknowledged.addAndGet(spans);
  }

  /** Counts a span that is larger than a span or a request may be. */
  public void countTooLarge() {
    tooLarge.incrementAndGet();
  }

  void countRejected(long spans) {
    rejected.addAndGet(spans);
  }

  /** Counts spans that nothing sends any more. */
  public void countGivenUp(long spans) {
    givenUp.addAndGet(spans);
  }

  void countResent(long spans) {
    resent.addAndGet(spans);
  }

  /** The counts now. While spans are under way they do not balance yet. */
  public Counts counts() {
    return new Counts(
        queued.getAsLong() + notQueued.sum(),
        acknowledged.get(),
        queueFull.sum(),
        tooLarge.get(),
        rejected.get(),
        givenUp.get(),
        resent.get());
  }

  /**
   * Numbers of spans.
   *
   * @param acknowledged answered with success and not rejected in part
   * @param queueFull dropped at their end: the queue was full, or all buffers were in use
   * @param tooLarge larger than a span or a request may be
   * @param rejected by an endpoint for good, in whole or in part
   * @param givenUp not acknowledged after all attempts, or when the recorder was closed
   * @param resent sent once more: each may be at the backend twice. Not part of the balance
   */
  public record Counts(
      long ended,
      long acknowledged,
      long queueFull,
      long tooLarge,
      long rejected,
      long givenUp,
      long resent) {

    /** Whether every ended span has one fate. */
    public boolean balanced() {
      return ended == acknowledged + queueFull + tooLarge + rejected + givenUp;
    }
  }
}
