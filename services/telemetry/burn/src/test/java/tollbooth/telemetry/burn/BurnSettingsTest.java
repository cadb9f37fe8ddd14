package tollbooth.telemetry.burn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tollbooth.gateway.Application;
import tollbooth.web.SettingsException;
import tollbooth.web.testing.EndedProcess;
import tollbooth.web.testing.Topologies;

class BurnSettingsTest {

  @TempDir private Path folder;

  @Test
  void burnsNothingByDefault() {
    assertThat(BurnSettings.parse(Map.of())).isEqualTo(new BurnSettings(0, 0, 2000, 0));
  }

  @Test
  void readsAllVariables() {
    Map<String, String> environment =
        Map.of(
            "BURN_IN_REQUEST_US", "7500",
            "BURN_LATER_US", "1000000",
            "BURN_LATER_DELAY_MS", "3000",
            "BURN_IDLE_FRACTION", "0.01");

    assertThat(BurnSettings.parse(environment))
        .isEqualTo(new BurnSettings(7500, 1_000_000, 3000, 0.01));
  }

  @ParameterizedTest
  @CsvSource({
    "BURN_IN_REQUEST_US, -1",
    "BURN_IN_REQUEST_US, 1000001",
    "BURN_IN_REQUEST_US, 99999999999",
    "BURN_LATER_US, 1.5",
    "BURN_LATER_US, ''",
    "BURN_LATER_DELAY_MS, 3001",
    "BURN_IDLE_FRACTION, 0.51",
    "BURN_IDLE_FRACTION, 1",
    "BURN_IDLE_FRACTION, much"
  })
  void rejectsAnInvalidValue(String name, String text) {
    assertThatThrownBy(() -> BurnSettings.parse(Map.of(name, text)))
        .isInstanceOf(SettingsException.class)
        .hasMessageStartingWith(name + ": must be a ")
        .hasMessageEndingWith(", not '" + text + "'");
  }

  @Test
  void endsTheServiceWithOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("topology.json"), Topologies.REST);
    EndedProcess service =
        EndedProcess.run(
            Application.class,
            Map.of("NODE", "gateway", "TOPOLOGY_FILE", file.toString(), "BURN_LATER_US", "much"));

    assertThat(service.exitCode()).isEqualTo(2);
    assertThat(service.errors().strip()).hasLineCount(1).contains("BURN_LATER_US");
    assertThat(service.output()).isEmpty();
  }
}
