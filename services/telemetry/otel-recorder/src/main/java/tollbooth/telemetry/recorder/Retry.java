package tollbooth.telemetry.recorder;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Set;

/** When to send again: OTLP's rules, with the bounds of OpenTelemetry's exporter. */
final class Retry {

  /** Attempts to send a span, the first one included. */
  static final int MOST_ATTEMPTS = 5;

  /** The longest wait, whatever an endpoint's answer says. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LAST = Duration.ofSeconds(5);
  private static final double FACTOR = 1.5;

  /** The shortest wait is this part of the backoff: otherwise all attempts are over at once. */
  private static final int LEAST_PART = 10;

  private static final Set<Integer> RETRYABLE = Set.of(429, 502, 503, 504);

  private Retry() {}

  static boolean isRetryable(int status) {
    return RETRYABLE.contains(status);
  }

  /** The wait after this many attempts, at least 1. */
  static Duration backoff(int attempts) {
    double nanos = FIRST.toNanos() * Math.pow(FACTOR, attempts - 1.0);
    return Duration.ofNanos((long) Math.min(nanos, LAST.toNanos()));
  }

  /**
   * The wait after an answer.
   *
   * @param retryAfter seconds or a date; null if the answer has none
   * @return the backoff if the header is absent or cannot be read; a tenth of it at least
   */
  static Duration after(String retryAfter, int attempts, Instant now) {
    if (retryAfter == null) {
      return backoff(attempts);
    }
    if (retryAfter.matches("[0-9]{1,9}")) {
      return bounded(Duration.ofSeconds(Long.parseLong(retryAfter)), attempts);
    }
    try {
      ZonedDateTime date = ZonedDateTime.parse(retryAfter, DateTimeFormatter.RFC_1123_DATE_TIME);
      return bounded(Duration.between(now, date.toInstant()), attempts);
    } catch (DateTimeParseException neither) {
      return backoff(attempts);
    }
  }

  private static Duration bounded(Duration wait, int attempts) {
    Duration least = backoff(attempts).dividedBy(LEAST_PART);
    if (wait.compareTo(least) < 0) {
      return least;
    }
    return wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }
}
