package tollbooth.telemetry.burn;

import java.util.function.LongSupplier;

/** Uses CPU time. */
final class Computation {

  /** Between two readings of the clock: some microseconds of compiled code. */
  private static final int STEPS = 2_000;

  /** Read by nobody: without it, a compiler could leave the arithmetic out. */
  private static volatile long result = 1;

  private Computation() {}

  /**
   * Computes until a CPU clock has reached a time, and returns its last reading, in nanoseconds.
   * This is arithmetic without memory, so that it disturbs the caches of others as little as
   * possible. It does not block.
   */
  static long until(LongSupplier clockNs, long dueNs) {
    long bits = result;
    long nowNs;
    do {
      for (int i = 0; i < STEPS; i++) {
        bits ^= bits << 13;
        bits ^= bits >>> 7;
        bits ^= bits << 17;
      }
      nowNs = clockNs.getAsLong();
    } while (nowNs < dueNs);
    result = bits;
    return nowNs;
  }
}
