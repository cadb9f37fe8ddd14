package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OverridesTest {

  private static final Operation OPERATION =
      new Operation(Duration.ofMillis(10), 0.02, List.of(), 0);

  @Test
  void leaveTheTopologyAsItIs() {
    assertThat(Overrides.parse(null, null)).isSameAs(Overrides.NONE);
    assertThat(Overrides.NONE.latency(OPERATION)).isEqualTo(Duration.ofMillis(10));
    assertThat(Overrides.NONE.errorProbability(OPERATION)).isEqualTo(0.02);
  }

  @Test
  void holdOverTheTopologyEachByItself() {
    assertThat(Overrides.parse("0", null).latency(OPERATION)).isEqualTo(Duration.ZERO);
    assertThat(Overrides.parse("0", null).errorProbability(OPERATION)).isEqualTo(0.02);
    assertThat(Overrides.parse(null, "0").errorProbability(OPERATION)).isZero();
    assertThat(Overrides.parse(null, "2e-3").errorProbability(OPERATION)).isEqualTo(0.002);
    assertThat(Overrides.parse(null, "1").latency(OPERATION)).isEqualTo(Duration.ofMillis(10));
    assertThat(Overrides.parse("60000", "1").latency(OPERATION)).isEqualTo(Duration.ofMinutes(1));
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.01, 1.01, Double.NaN, Double.POSITIVE_INFINITY})
  void rejectAProbabilityOutOfBounds(double probability) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Overrides(Optional.empty(), Optional.of(probability)))
        .withMessage("error probability must be 0 to 1, not " + probability);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 60_001, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void rejectALatencyOutOfBounds(int ms) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Overrides(Optional.of(ms), Optional.empty()))
        .withMessage("latency must be 0 to 60000 ms, not " + ms);
  }

  @ParameterizedTest
  @CsvSource(value = {"1.5, 0", "x, 0", "'', 0", "1, x", "1, ''"})
  void rejectWhatIsNotANumber(String latencyMs, String probability) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Overrides.parse(latencyMs, probability))
        .withMessageContaining(Overrides.LATENCY_HEADER);
  }
}
