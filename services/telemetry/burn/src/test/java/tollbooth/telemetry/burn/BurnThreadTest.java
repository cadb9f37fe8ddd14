package tollbooth.telemetry.burn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.awaitility.Awaitility.await;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BurnThreadTest {

  private static final long BURN_NS = 5_000_000;
  private static final int TIMES = 40;

  private final BurnThread thread = new BurnThread("test");

  /** The kernel's count of the process, which the thread does not read. It has ticks of 10 ms. */
  @Test
  void theProcessUsesTheAmountToo() {
    int times = 10 * TIMES;
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long beforeNs = process.getProcessCpuTime();
    for (int i = 0; i < times; i++) {
      thread.burnLater(BURN_NS, 0);
    }
    thread.close();

    assertThat(process.getProcessCpuTime() - beforeNs)
        .isGreaterThanOrEqualTo(times * BURN_NS * 99 / 100);
  }

  @Test
  void burnsLaterAndDoesNotWait() {
    long beforeNs = System.nanoTime();
    for (int i = 0; i < TIMES; i++) {
      thread.burnLater(BURN_NS, 1000);
    }
    assertThat(thread.burned()).isEqualTo(new Burned(0, 0));
    assertThat(System.nanoTime() - beforeNs).isLessThan(900_000_000);

    thread.close();
    assertThat(System.nanoTime() - beforeNs).isGreaterThan(1_000_000_000);
    assertThat(thread.burned().times()).isEqualTo(TIMES);
    assertThat(thread.burned().cpuNs()).isCloseTo(TIMES * BURN_NS, withinPercentage(1));
  }

  @Test
  void burnsAgainAndAgainUntilItIsClosed() {
    long beforeNs = System.nanoTime();
    thread.burnEvery(BURN_NS, 20);
    await().until(() -> thread.burned().times() > 10);
    thread.close();
    Burned atEnd = thread.burned();

    assertThat(System.nanoTime() - beforeNs).isGreaterThanOrEqualTo(11 * 20_000_000L);
    assertThat(atEnd.cpuNs()).isCloseTo(atEnd.times() * BURN_NS, withinPercentage(1));
    await().during(Duration.ofMillis(100)).until(thread::burned, atEnd::equals);
  }
}
