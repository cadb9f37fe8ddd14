package tollbooth.telemetry.streaming;

import java.util.concurrent.atomic.LongAdder;

/** Counts what became of the spans until they were queued. */
final class Ledger {

  private final LongAdder ended = new LongAdder();
  private final LongAdder queueFull = new LongAdder();
  private final LongAdder noBufferLeft = new LongAdder();
  private final LongAdder tooLarge = new LongAdder();

  void countEnded() {
    ended.increment();
  }

  void countQueueFull() {
    queueFull.increment();
  }

  void count(Chain.Failure why) {
    (why == Chain.Failure.TOO_LARGE ? tooLarge : noBufferLeft).increment();
  }

  /** Spans that were recorded and ended. */
  long ended() {
    return ended.sum();
  }

  /** Ended spans that found the queue full. */
  long queueFull() {
    return queueFull.sum();
  }

  /** Ended spans that had found no buffer. */
  long noBufferLeft() {
    return noBufferLeft.sum();
  }

  /** Ended spans above the limit of bytes. */
  long tooLarge() {
    return tooLarge.sum();
  }
}
