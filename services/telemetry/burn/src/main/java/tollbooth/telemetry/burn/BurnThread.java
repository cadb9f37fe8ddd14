package tollbooth.telemetry.burn;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A thread that uses known amounts of CPU time beside requests. It computes until its own CPU
 * clock, which the kernel keeps, has reached the sum of all amounts so far. So the CPU time for
 * waking up and for the queue is part of the amounts, and an excess is taken off the next one.
 */
final class BurnThread implements AutoCloseable {

  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private final ScheduledExecutorService thread;

  private long firstNs;
  private long dueNs;
  private volatile Burned burned = new Burned(0, 0);

  BurnThread(String name) {
    thread =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name(name).daemon().factory());
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
    long endNs = Computation.until(CLOCK::getCurrentThreadCpuTime, firstNs + dueNs);
    burned = new Burned(burned.times() + 1, endNs - firstNs);
  }
}
