package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartialSuccessTest {

  @ParameterizedTest
  @CsvSource({
    "'', 0", // an empty answer
    "0a00, 0", // an empty partial success
    "0a020803, 3",
    "0a0308ac02, 300",
    "0a051201610803, 3", // an error message before it
    "100508010a020803, 3", // unknown fields before it
    "0d000000000a020803, 3",
    "0900000000000000000a020803, 3",
    "0a0a0803, 0", // cut off
    "7b6a736f6e7d, 0" // not protobuf
  })
  void countsRejectedSpans(String hex, long spans) {
    byte[] body = HexFormat.of().parseHex(hex);
    assertThat(PartialSuccess.rejectedSpans(body)).isEqualTo(spans);
  }
}
