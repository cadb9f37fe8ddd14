package tollbooth.telemetry.recorder;

import java.time.Duration;

/** Takes messages from a {@link Source} with one thread, and settles each in its {@link Ledger}. */
public interface Sender extends AutoCloseable {

  /** How long {@link #close()} flushes at most, and then waits for the thread's end. */
  Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /** Looks at the queue now. Any thread may call it, for example when the queue is half full. */
  void wake();

  /**
   * Waits until all that was in the queue is acknowledged, rejected or given up.
   *
   * @return false if the time ran out before, or the thread was interrupted
   */
  boolean flush(Duration timeout);

  /** Flushes for at most this time, then gives up the rest and ends the thread. */
  void close(Duration timeout);

  /** Flushes for at most {@link #CLOSE_TIMEOUT}, then gives up the rest and ends the thread. */
  @Override
  default void close() {
    close(CLOSE_TIMEOUT);
  }
}
