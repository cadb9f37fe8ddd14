package tollbooth.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class CpuClockTest {

  private static final long TICK_NS = 10_000_000;

  /** The smallest of many steps: compilers of this process use CPU time between any two looks. */
  @Test
  void countsLessThanATick() {
    long leastNs = Long.MAX_VALUE;
    for (int i = 0; i < 100; i++) {
      leastNs = Math.min(leastNs, stepNs());
    }

    assertThat(leastNs).isBetween(1L, TICK_NS / 10);
  }

  private static long stepNs() {
    long startNs = CpuClock.PROCESS.ns();
    long nextNs = startNs;
    while (nextNs == startNs) {
      nextNs = CpuClock.PROCESS.ns();
    }
    return nextNs - startNs;
  }

  @Test
  void countsWhatTheJdkCounts() {
    OperatingSystemMXBean jdk =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long beforeNs = jdk.getProcessCpuTime();
    long nanos = CpuClock.PROCESS.ns();
    long afterNs = jdk.getProcessCpuTime();

    // The JDK cuts both user and system time off at a tick.
    assertThat(nanos).isBetween(beforeNs, afterNs + 2 * TICK_NS);
  }
}
