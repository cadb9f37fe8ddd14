package tollbooth.telemetry.recorder;

import java.time.Duration;

/**
 * How long a thread waits before it looks at the queue again: twice as long each time it waited so
 * long and nothing new is there, up to a bound. So a service without spans hardly pays for looking.
 */
final class LookInterval {

  /** The longest wait, in shortest ones. */
  private static final int MOST_TIMES = 10;

  private final long shortestNanos;
  private long nanos;
  private long sinceNanos;
  private long seen = -1;

  LookInterval(Duration shortest) {
    shortestNanos = shortest.toNanos();
  }

  /**
   * The next wait.
   *
   * @param offered how many messages have been put into the queue so far
   */
  long nextNanos(long offered, long nowNanos) {
    boolean more = offered != seen;
    if (more || nowNanos - sinceNanos >= nanos) {
      nanos = more ? shortestNanos : Math.min(2 * nanos, MOST_TIMES * shortestNanos);
      seen = offered;
      sinceNanos = nowNanos;
    }
    return nanos;
  }
}
