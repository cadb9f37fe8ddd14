package tollbooth.telemetry.burn;

import java.util.Map;
import tollbooth.web.SettingsException;

/**
 * How much CPU time to burn, and when.
 *
 * @param inRequestUs CPU time of a request, before it is passed on, in microseconds
 * @param laterUs CPU time in the background for each request, in microseconds
 * @param laterDelayMs how long after a request's arrival {@code laterUs} begins, in milliseconds
 * @param idleFraction the share of a core to use all the time, with and without requests
 */
record BurnSettings(int inRequestUs, int laterUs, int laterDelayMs, double idleFraction) {

  static final String IN_REQUEST_US = "BURN_IN_REQUEST_US";
  static final String LATER_US = "BURN_LATER_US";
  static final String LATER_DELAY_MS = "BURN_LATER_DELAY_MS";
  static final String IDLE_FRACTION = "BURN_IDLE_FRACTION";

  private static final int MOST_US = 1_000_000;

  /** A service has 5 s to end. What it still has to burn must fit in. */
  private static final int MOST_DELAY_MS = 3_000;

  private static final double MOST_FRACTION = 0.5;

  /**
   * Reads the variables. Without any, nothing is burned.
   *
   * @throws SettingsException if one is invalid
   */
  static BurnSettings parse(Map<String, String> environment) {
    return new BurnSettings(
        whole(IN_REQUEST_US, environment.getOrDefault(IN_REQUEST_US, "0"), MOST_US),
        whole(LATER_US, environment.getOrDefault(LATER_US, "0"), MOST_US),
        whole(LATER_DELAY_MS, environment.getOrDefault(LATER_DELAY_MS, "2000"), MOST_DELAY_MS),
        fraction(environment.getOrDefault(IDLE_FRACTION, "0")));
  }

  private static int whole(String name, String text, int most) {
    // At most seven digits: any other value is invalid anyway.
    if (!text.matches("[0-9]{1,7}") || Integer.parseInt(text) > most) {
      throw new SettingsException(
          name + ": must be a whole number from 0 to " + most + ", not '" + text + "'");
    }
    return Integer.parseInt(text);
  }

  private static double fraction(String text) {
    if (!text.matches("0(\\.[0-9]{1,6})?") || Double.parseDouble(text) > MOST_FRACTION) {
      throw new SettingsException(
          IDLE_FRACTION + ": must be a number from 0 to " + MOST_FRACTION + ", not '" + text + "'");
    }
    return Double.parseDouble(text);
  }
}
