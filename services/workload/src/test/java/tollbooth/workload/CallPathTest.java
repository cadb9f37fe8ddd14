package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallPathTest {

  @Test
  void namesEachCallOnTheWay() {
    assertThat(CallPath.ofRequest(17).call(3).call(0).text()).isEqualTo("17.3.0");
  }

  @Test
  void readsWhatItWrites() {
    CallPath path = CallPath.ofRequest(Long.MAX_VALUE).call(9_999);
    assertThat(CallPath.valueOf(path.text())).isEqualTo(path);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ".", "17.", ".3", "17..3", "-1", "a", "17 ", "17.3\n", "12345678901234567890"})
  void refusesWhatIsNoPath(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> CallPath.valueOf(text));
  }
}
