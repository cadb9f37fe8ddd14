package tollbooth.telemetry.burn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.burn.BurnThread.Burned;

class BurnThreadTest {

  private static final long BURN_NS = 5_000_000;
  private static final int TIMES = 40;

  private final BurnThread thread = new BurnThread("test");

  @Test
  void usesTheAmountToOnePercent() {
    for (int i = 0; i < TIMES; i++) {
      thread.burn(BURN_NS);
    }
    thread.close();

    assertThat(thread.burned().times()).isEqualTo(TIMES);
    assertThat(thread.burned().cpuNs()).isCloseTo(TIMES * BURN_NS, withinPercentage(1));
  }

  /** The kernel's count of the process, which the thread does not read. */
  @Test
  void theProcessUsesTheAmountToo() {
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    thread.burn(BURN_NS);
    long beforeNs = process.getProcessCpuTime();
    for (int i = 0; i < TIMES; i++) {
      thread.burn(BURN_NS);
    }
    long usedNs = process.getProcessCpuTime() - beforeNs;
    thread.close();

    assertThat(usedNs).isGreaterThanOrEqualTo(TIMES * BURN_NS * 99 / 100);
  }

  @Test
  void returnsOnlyWhenItHasBurned() {
    long beforeNs = System.nanoTime();
    thread.burn(20 * BURN_NS);
    long tookNs = System.nanoTime() - beforeNs;
    thread.close();

    assertThat(tookNs).isGreaterThanOrEqualTo(20 * BURN_NS);
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
  void burnsAgainAndAgainUntilItIsClosed() throws Exception {
    thread.burnEvery(BURN_NS, 20);
    Thread.sleep(500);
    thread.close();
    Burned atEnd = thread.burned();
    Thread.sleep(100);

    assertThat(atEnd.times()).isGreaterThan(10);
    assertThat(atEnd.cpuNs()).isCloseTo(atEnd.times() * BURN_NS, withinPercentage(1));
    assertThat(thread.burned()).isEqualTo(atEnd);
  }
}
