package tollbooth.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class ProcessCpuTest {

  private static final long TICK_NS = 10_000_000;

  @Test
  void countsLessThanATick() {
    long startNs = ProcessCpu.nanos();
    long nextNs = startNs;
    while (nextNs == startNs) {
      nextNs = ProcessCpu.nanos();
    }

    assertThat(nextNs - startNs).isBetween(1L, TICK_NS / 10);
  }

  @Test
  void countsWhatTheJdkCounts() {
    OperatingSystemMXBean jdk =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long beforeNs = jdk.getProcessCpuTime();
    long nanos = ProcessCpu.nanos();
    long afterNs = jdk.getProcessCpuTime();

    // The JDK cuts both user and system time off at a tick.
    assertThat(nanos).isBetween(beforeNs, afterNs + 2 * TICK_NS);
  }
}
