package tollbooth.telemetry.burn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestBurnTest {

  private static final long BURN_NS = 5_000_000;
  private static final int TIMES = 40;

  private final RequestBurn burn = new RequestBurn();

  /** The JVM's clock of the thread, which the burn does not read. */
  @Test
  void usesTheAmountOnTheThreadOfTheCaller() {
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    burn.burn(BURN_NS);
    long beforeNs = clock.getCurrentThreadCpuTime();
    for (int i = 0; i < TIMES; i++) {
      burn.burn(BURN_NS);
    }
    long usedNs = clock.getCurrentThreadCpuTime() - beforeNs;

    assertThat(usedNs).isCloseTo(TIMES * BURN_NS, withinPercentage(1));
  }

  /** The kernel's count of the process, which the burn does not read. It has ticks of 10 ms. */
  @Test
  void virtualThreadsUseTheAmountEach() throws Exception {
    int times = 10 * TIMES;
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long beforeNs = process.getProcessCpuTime();
    List<Thread> requests = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      requests.add(Thread.startVirtualThread(() -> burn.burn(BURN_NS)));
    }
    for (Thread request : requests) {
      request.join();
    }
    long usedNs = process.getProcessCpuTime() - beforeNs;

    assertThat(burn.burned().times()).isEqualTo(times);
    assertThat(burn.burned().cpuNs()).isCloseTo(times * BURN_NS, withinPercentage(1));
    assertThat(usedNs).isGreaterThanOrEqualTo(times * BURN_NS * 99 / 100);
  }

  @Test
  void returnsOnlyWhenItHasBurned() {
    long beforeNs = System.nanoTime();
    burn.burn(20 * BURN_NS);

    assertThat(System.nanoTime() - beforeNs).isGreaterThanOrEqualTo(20 * BURN_NS);
  }
}
