package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LookIntervalTest {

  @Test
  void isTwiceAsLongEachTimeNothingCame() {
    LookInterval look = new LookInterval(Duration.ofNanos(100));
    assertThat(look.nextNanos(1, 0)).isEqualTo(100);
    // Something else woke the thread.
    assertThat(look.nextNanos(1, 99)).isEqualTo(100);
    assertThat(look.nextNanos(1, 100)).isEqualTo(200);
    assertThat(look.nextNanos(1, 300)).isEqualTo(400);
    assertThat(look.nextNanos(1, 700)).isEqualTo(800);
    assertThat(look.nextNanos(1, 1500)).isEqualTo(1000);
    assertThat(look.nextNanos(1, 2500)).isEqualTo(1000);
    assertThat(look.nextNanos(2, 2501)).isEqualTo(100);
  }
}
