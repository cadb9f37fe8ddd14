package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryTest {

  private static final Instant NOW = Instant.parse("2026-11-25T22:00:00Z");

  @Test
  void sendsAgainAfterFourStatusesOnly() {
    assertThat(IntStream.range(100, 600).filter(Retry::isRetryable).toArray())
        .containsExactly(429, 502, 503, 504);
  }

  @Test
  void waitsLongerEachTimeUpToFiveSeconds() {
    assertThat(IntStream.rangeClosed(1, 6).mapToObj(Retry::backoff).map(Duration::toMillis))
        .containsExactly(1_000L, 1_500L, 2_250L, 3_375L, 5_000L, 5_000L);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 100",
    "7, 7000",
    "999999999, 60000",
    "'Wed, 25 Nov 2026 22:00:03 GMT', 3000",
    "'Wed, 25 Nov 2026 21:00:00 GMT', 100",
    "soon, 1000",
    "-1, 1000",
    ", 1000"
  })
  void waitsAsTheAnswerRequests(String retryAfter, long millis) {
    assertThat(Retry.after(retryAfter, 1, NOW)).isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void waitsATenthOfTheUsualTimeAtLeast() {
    assertThat(IntStream.rangeClosed(1, 4).mapToObj(attempts -> Retry.after("0", attempts, NOW)))
        .containsExactly(
            Duration.ofMillis(100),
            Duration.ofMillis(150),
            Duration.ofMillis(225),
            Duration.ofNanos(337_500_000));
  }
}
