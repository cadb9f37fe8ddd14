package tollbooth.telemetry.burn;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tollbooth.web.AtomicFile;
import tools.jackson.databind.json.JsonMapper;

/** Burns CPU time as the settings say, and writes what it burned when it is closed. */
final class Burner implements AutoCloseable {

  private static final long MICROSECOND_NS = 1_000;
  private static final double MILLISECOND_NS = 1e6;
  private static final double SECOND_NS = 1e9;

  /** Long enough for waking up to be a small part of a burn. */
  private static final int IDLE_PERIOD_MS = 100;

  private final BurnSettings settings;
  private final Optional<Path> file;
  private final JsonMapper json;
  private final RequestBurn inRequest = new RequestBurn();
  private final BurnThread later = new BurnThread("burn-later");
  private final BurnThread idle = new BurnThread("burn-idle");
  private final long startNs = System.nanoTime();

  /**
   * Starts to burn what is burned without requests.
   *
   * @param file where to write what was burned; empty: nowhere
   */
  Burner(BurnSettings settings, Optional<Path> file, JsonMapper json) {
    this.settings = settings;
    this.file = file;
    this.json = json;
    if (settings.idleFraction() > 0) {
      idle.burnEvery(
          Math.round(settings.idleFraction() * IDLE_PERIOD_MS * MILLISECOND_NS), IDLE_PERIOD_MS);
    }
  }

  /** Plans what is due later, counted from the arrival, and burns what is due in the request. */
  void request() {
    if (settings.laterUs() > 0) {
      later.burnLater(settings.laterUs() * MICROSECOND_NS, settings.laterDelayMs());
    }
    if (settings.inRequestUs() > 0) {
      inRequest.burn(settings.inRequestUs() * MICROSECOND_NS);
    }
  }

  @Override
  public void close() {
    later.close();
    idle.close();
    file.ifPresent(path ->
        AtomicFile.write(
            path,
            json.writeValueAsString(
                Map.of("format", "tollbooth.results", "version", 1, "values", values()))));
  }

  /** What was burned so far, as README.md describes it. */
  Map<String, Double> values() {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("burner_ran_s", (System.nanoTime() - startNs) / SECOND_NS);
    Map.of("in_request", inRequest.burned(), "later", later.burned(), "idle", idle.burned())
        .forEach((name, burned) -> {
          values.put("burns_" + name, (double) burned.times());
          values.put("burned_" + name + "_ms", burned.cpuNs() / MILLISECOND_NS);
        });
    return values;
  }
}
