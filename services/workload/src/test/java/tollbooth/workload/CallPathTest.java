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
  void namesAttemptsAfterTheFirst() {
    CallPath call = CallPath.ofRequest(17).call(3);

    assertThat(call.attempt(null)).isEqualTo(call);
    assertThat(call.attempt("1")).isEqualTo(call);
    assertThat(call.attempt("2").text()).isEqualTo("17.3~2");
    assertThat(call.attempt("2").call(0).text()).isEqualTo("17.3~2.0");
    assertThat(call.attempt("2").call(0).attempt("11").text()).isEqualTo("17.3~2.0~11");
    assertThat(CallPath.ofRequest(17).attempt("2").attempt("3").text()).isEqualTo("17~2~3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-1", "1.5", "123456", " 2"})
  void rejectsAnInvalidAttempt(String count) {
    assertThatIllegalArgumentException().isThrownBy(() -> CallPath.ofRequest(17).attempt(count));
  }

  @ParameterizedTest
  @ValueSource(strings = {"17", "17.3~2.0", "17~2~3.0.1~10", "9223372036854775807.9999"})
  void readsWhatItWrites(String text) {
    assertThat(CallPath.valueOf(text).text()).isEqualTo(text);
  }

  @Test
  void readsTheLongestNumbers() {
    CallPath path = CallPath.ofRequest(Long.MAX_VALUE).call(9_999);
    assertThat(CallPath.valueOf(path.text())).isEqualTo(path);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "17.",
        ".3",
        "17..3",
        "-1",
        "a",
        "17 ",
        "17.3\n",
        "12345678901234567890",
        "~2",
        "17~",
        "17~.3",
        "17.~2"
      })
  void rejectsAnInvalidPath(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> CallPath.valueOf(text));
  }
}
