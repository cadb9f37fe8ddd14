package tollbooth.workload;

import java.time.Duration;
import java.util.Optional;

/**
 * What holds instead of what the topology says. A request asks for it of every service on its way,
 * so whoever calls passes it on; a fault makes one service do so.
 *
 * @param latencyMs how long every operation waits, 0..60,000
 * @param errorProbability how often every operation fails, 0..1
 */
public record Overrides(Optional<Integer> latencyMs, Optional<Double> errorProbability) {

  /** The HTTP header that carries the latency, in milliseconds. */
  public static final String LATENCY_HEADER = "tollbooth-latency-ms";

  /** The HTTP header that carries the error probability. */
  public static final String PROBABILITY_HEADER = "tollbooth-error-probability";

  /** Everything as the topology says. */
  public static final Overrides NONE = new Overrides(Optional.empty(), Optional.empty());

  private static final int LONGEST_LATENCY_MS = 60_000;

  /**
   * Checks both.
   *
   * @throws IllegalArgumentException where one is out of its bounds
   */
  public Overrides {
    latencyMs.ifPresent(Overrides::checkLatency);
    errorProbability.ifPresent(Overrides::checkProbability);
  }

  /**
   * Reads the two headers' values, each null where it is not there.
   *
   * @throws IllegalArgumentException where one is no number, or out of its bounds
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

  /** These, and where they leave something open the others. */
  public Overrides over(Overrides others) {
    return new Overrides(
        latencyMs.or(others::latencyMs), errorProbability.or(others::errorProbability));
  }

  /** How long an operation waits. */
  public Duration latency(Operation operation) {
    return latencyMs.map(Duration::ofMillis).orElse(operation.latency());
  }

  /** How often an operation fails, 0..1. */
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
