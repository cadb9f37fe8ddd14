package tollbooth.benchmarks.spans;

import java.util.concurrent.TimeUnit;

/** Whether spans arrived. */
final class Delivery {

  private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(1);

  private Delivery() {}

  /**
   * Waits for all spans so far. Again, if some are missing: the SDK's flush may answer for the one
   * before.
   *
   * @throws IllegalStateException if one was dropped: the figures would be of other work
   */
  static void settle(SpanMaker maker, long made) {
    long startNs = System.nanoTime();
    do {
      maker.settle();
    } while (maker.delivered() != made && System.nanoTime() - startNs < BOUND_NS);
    if (maker.delivered() != made) {
      throw new IllegalStateException(maker.delivered() + " of " + made + " spans were delivered");
    }
  }
}
