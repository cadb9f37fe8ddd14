package tollbooth.exportermodel;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/**
 * The model's settings. Addresses are looked up once, so the clients of the loop never wait for a
 * name. The blocking client takes the name only.
 */
record Settings(
    Design design,
    int minFlushSpans,
    int flushIntervalMs,
    InetSocketAddress server,
    InetSocketAddress receiver,
    int port,
    int adminPort) {

  private static final int PORT = 8080;
  private static final int ADMIN_PORT = 9901;

  /**
   * Reads the environment. Thresholds that are left out are Envoy's defaults.
   *
   * @throws IllegalArgumentException with one line that names the variable and what is possible
   */
  static Settings of(Map<String, String> environment) {
    return new Settings(
        design(environment.getOrDefault("EXPORTER", "")),
        number(environment, "MIN_FLUSH_SPANS", "5"),
        number(environment, "FLUSH_INTERVAL_MS", "5000"),
        address(environment, "SERVER"),
        address(environment, "RECEIVER"),
        PORT,
        ADMIN_PORT);
  }

  private static Design design(String name) {
    return Arrays.stream(Design.values())
        .filter(design -> lowerCase(design).equals(name))
        .findFirst()
        .orElseThrow(() -> wrong("EXPORTER", name, "one of " + designs()));
  }

  private static String designs() {
    return String.join(", ", Arrays.stream(Design.values()).map(Settings::lowerCase).toList());
  }

  private static String lowerCase(Design design) {
    return design.name().toLowerCase(Locale.ROOT);
  }

  private static int number(Map<String, String> environment, String name, String otherwise) {
    String text = environment.getOrDefault(name, otherwise);
    if (!text.matches("[1-9][0-9]{0,6}")) {
      throw wrong(name, text, "a number from 1 to 9999999");
    }
    return Integer.parseInt(text);
  }

  private static InetSocketAddress address(Map<String, String> environment, String name) {
    String text = environment.getOrDefault(name, "");
    if (!text.matches("[^:]+:[1-9][0-9]{0,4}")) {
      throw wrong(name, text, "<host>:<port>");
    }
    String[] parts = text.split(":");
    return new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
  }

  private static IllegalArgumentException wrong(String name, String text, String wanted) {
    return new IllegalArgumentException(name + ": saw '" + text + "', wanted " + wanted);
  }
}
