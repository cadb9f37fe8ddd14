package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LookIntervalTest {

  @Test
  void isTwiceAsLongEachTimeNothingCame() {
    LookInterval look = new LookInterval(Duration.ofNanos(100));
    assertThat(look.nextNanos(1)).isEqualTo(100);
    assertThat(look.nextNanos(1)).isEqualTo(200);
    assertThat(look.nextNanos(1)).isEqualTo(400);
    assertThat(look.nextNanos(1)).isEqualTo(800);
    assertThat(look.nextNanos(1)).isEqualTo(1000);
    assertThat(look.nextNanos(1)).isEqualTo(1000);
    assertThat(look.nextNanos(2)).isEqualTo(100);
  }
}
