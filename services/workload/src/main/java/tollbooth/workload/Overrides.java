package tollbooth.workload;

import java.time.Duration;
import java.util.Optional;

/**
 * Values that override the topology's. A request's overrides apply to every service on its way, so
 * each caller passes them on. An injected fault applies to one service.
 *
 * @param latencyMs latency of every operation, 0..60,000
 * @param errorProbability share of requests that fail at every operation, 0..1
 */
public record Overrides(Optional<Integer> latencyMs, Optional<Double> errorProbability) {

  /** The HTTP header that carries the latency, in milliseconds. */
  public static final String LATENCY_HEADER = "tollbooth-latency-ms";

  /** The HTTP header that carries the error probability. */
  public static final String PROBABILITY_HEADER = "tollbooth-error-probability";

  /** No overrides: the topology's values apply. */
  public static final Overrides NONE = new Overrides(Optional.empty(), Optional.empty());

  private static final int LONGEST_LATENCY_MS = 60_000;

  /**
   * Validates both.
   *
   * @throws IllegalArgumentException if one is out of bounds
   */
  public Overrides {
    latencyMs.ifPresent(Overrides::checkLatency);
    errorProbability.ifPresent(Overrides::checkProbability);
  }

  /**
   * Reads the values of the two headers; null if absent.
   *
   * @throws IllegalArgumentException if one is not a number or out of bounds
   */
  public static Overrides parse(String latencyMs, String errorProbability) {
    if (latencyMs == null && errorProbability == null) {
      return NONE;
    }
    try {
      return new Overrides(
          Optional.ofNullable(latencyMs).map(Integer::valueOf),
          Optional.ofNullable(errorProbability).map(Double::valueOf));
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          LATENCY_HEADER + " must be a whole number, " + PROBABILITY_HEADER + " a number");
    }
  }

  /** These overrides; the others where these have none. */
  public Overrides over(Overrides others) {
    return new Overrides(
        latencyMs.or(others::latencyMs), errorProbability.or(others::errorProbability));
  }

  /** The latency of an operation. */
  public Duration latency(Operation operation) {
    return latencyMs.map(Duration::ofMillis).orElse(operation.latency());
  }

  /** The error probability of an operation, 0..1. */
  public double errorProbability(Operation operation) {
    return errorProbability.orElse(operation.errorProbability());
  }

  private static void checkLatency(int ms) {
    if (ms < 0 || ms > LONGEST_LATENCY_MS) {
      throw new IllegalArgumentException(
          "latency must be 0 to " + LONGEST_LATENCY_MS + " ms, not " + ms);
    }
  }

  private static void checkProbability(double probability) {
    // Written so that NaN fails it too.
    if (!(probability >= 0 && probability <= 1)) {
      throw new IllegalArgumentException("error probability must be 0 to 1, not " + probability);
    }
  }
}
