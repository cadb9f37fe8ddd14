package tollbooth.telemetry.recorder;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Decides what becomes of the spans of a request, and keeps those to be sent again. */
final class Settlement {

  /** How long a due batch is left to the endpoints that did not fail it. */
  private static final long PATIENCE_NANOS = Duration.ofMillis(1500).toNanos();

  private final Ledger ledger;
  private final InstantSource calendar;
  private final List<Batch> waiting = new ArrayList<>();
  private long waitingBytes;

  Settlement(Ledger ledger, InstantSource calendar) {
    this.ledger = ledger;
    this.calendar = calendar;
  }

  /**
   * An endpoint answered.
   *
   * @return how long it wants nothing more; others may take the batch earlier
   */
  Duration answered(Batch batch, Answer answer, long nowNanos) {
    if (answer.isSuccess()) {
      long said = PartialSuccess.rejectedSpans(answer.body());
      long rejected = Math.clamp(said, 0, batch.spans());
      ledger.countRejected(rejected);
      ledger.countAcknowledged(batch.spans() - rejected);
      batch.release();
    } else if (Retry.isRetryable(answer.status())) {
      Duration pause = Retry.after(answer.retryAfter(), batch.attempts(), calendar.instant());
      Duration backoff = Retry.backoff(batch.attempts());
      retry(batch, pause.compareTo(backoff) < 0 ? pause : backoff, nowNanos);
      return pause;
    } else {
      ledger.countRejected(batch.spans());
      batch.release();
    }
    return Duration.ZERO;
  }

  /** The connection ended without an answer: whether the spans arrived is unknown. */
  void lost(Batch batch, long nowNanos) {
    retry(batch, Retry.backoff(batch.attempts()), nowNanos);
  }

  private void retry(Batch batch, Duration wait, long nowNanos) {
    if (batch.spans() == 0) {
      return;
    }
    if (batch.attempts() >= Retry.MOST_ATTEMPTS) {
      giveUp(batch);
      return;
    }
    batch.retryAt(nowNanos + wait.toNanos());
    waiting.add(batch);
    waitingBytes += batch.bytes();
  }

  /**
   * Takes a batch whose time has come; null if there is none.
   *
   * @param taker who is about to send it
   * @param ownToo whether that may at once be one which the taker itself failed to send
   */
  Batch due(Connection taker, boolean ownToo, long nowNanos) {
    for (Iterator<Batch> batches = waiting.iterator(); batches.hasNext(); ) {
      Batch batch = batches.next();
      if (dueAtNanos(batch, taker, ownToo) - nowNanos <= 0) {
        batches.remove();
        waitingBytes -= batch.bytes();
        ledger.countResent(batch.spans());
        return batch;
      }
    }
    return null;
  }

  /** Others come first, but one that only seems to take requests does not hold a batch up. */
  private static long dueAtNanos(Batch batch, Connection taker, boolean ownToo) {
    boolean leftToOthers = !ownToo && batch.sender() == taker;
    return batch.notBeforeNanos() + (leftToOthers ? PATIENCE_NANOS : 0);
  }

  /** Without framing. */
  long waitingBytes() {
    return waitingBytes;
  }

  /** The time until {@link #due} has a batch; the limit if that is later, or if there is none. */
  long nanosUntilDue(Connection taker, boolean ownToo, long nowNanos, long limit) {
    long least = limit;
    for (Batch batch : waiting) {
      least = Math.min(least, dueAtNanos(batch, taker, ownToo) - nowNanos);
    }
    return Math.max(least, 0);
  }

  /** The lowest sequence of those to be sent again. */
  long oldest() {
    return waiting.stream().mapToLong(Batch::oldest).min().orElse(Long.MAX_VALUE);
  }

  void giveUp(Batch batch) {
    ledger.countGivenUp(batch.spans());
    batch.release();
  }

  void giveUpAll() {
    waiting.forEach(this::giveUp);
    waiting.clear();
    waitingBytes = 0;
  }
}
