package tollbooth.telemetry.burn;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A thread that uses known amounts of CPU time. It computes until its own CPU clock, which the
 * kernel keeps, has reached the sum of all amounts so far. So the CPU time for waking up and for
 * the queue is part of the amounts, and an excess is taken off the next one.
 *
 * <p>It is a platform thread: the JVM gives no CPU time of a virtual thread.
 */
final class BurnThread implements AutoCloseable {

  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  /** Between two readings of the clock: some microseconds of compiled code. */
  private static final int STEPS = 2_000;

  private final ScheduledExecutorService thread;

  private long firstNs;
  private long dueNs;
  private long state = 1;
  private volatile Burned burned = new Burned(0, 0);

  /**
   * What a thread burned so far.
   *
   * @param times how often it burned
   * @param cpuNs CPU time of the thread by its own clock, in nanoseconds
   */
  record Burned(long times, long cpuNs) {}

  BurnThread(String name) {
    thread =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name(name).daemon().factory());
  }

  /** Burns now, and returns when that is done. */
  void burn(long cpuNs) {
    CompletableFuture.runAsync(() -> compute(cpuNs), thread).join();
  }

  /** Burns after a delay. */
  void burnLater(long cpuNs, long delayMs) {
    thread.schedule(() -> compute(cpuNs), delayMs, TimeUnit.MILLISECONDS);
  }

  /** Burns once in every period until it is closed. */
  void burnEvery(long cpuNs, long periodMs) {
    thread.scheduleAtFixedRate(() -> compute(cpuNs), periodMs, periodMs, TimeUnit.MILLISECONDS);
  }

  /** What was burned so far. */
  Burned burned() {
    return burned;
  }

  /** Waits for everything that is due later; ends what is periodic. */
  @Override
  public void close() {
    thread.close();
  }

  private void compute(long cpuNs) {
    if (burned.times() == 0) {
      firstNs = CLOCK.getCurrentThreadCpuTime();
    }
    dueNs += cpuNs;
    long usedNs;
    do {
      step();
      usedNs = CLOCK.getCurrentThreadCpuTime() - firstNs;
    } while (usedNs < dueNs);
    burned = new Burned(burned.times() + 1, usedNs);
  }

  /** Arithmetic without memory, so that it disturbs the caches of others as little as possible. */
  private void step() {
    long bits = state;
    for (int i = 0; i < STEPS; i++) {
      bits ^= bits << 13;
      bits ^= bits >>> 7;
      bits ^= bits << 17;
    }
    state = bits;
  }
}
