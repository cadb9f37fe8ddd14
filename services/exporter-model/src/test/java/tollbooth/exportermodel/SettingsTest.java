package tollbooth.exportermodel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

  private static final Map<String, String> GIVEN =
      Map.of("EXPORTER", "thread", "SERVER", "localhost:1", "RECEIVER", "localhost:2");

  @Test
  void whatIsLeftOutIsAsInEnvoy() {
    Settings settings = Settings.of(GIVEN);
    assertThat(settings.design()).isEqualTo(Design.THREAD);
    assertThat(settings.minFlushSpans()).isEqualTo(5);
    assertThat(settings.flushIntervalMs()).isEqualTo(5000);
    assertThat(settings.server().getPort()).isEqualTo(1);
    assertThat(settings.receiver().getPort()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "EXPORTER, THREAD",
    "EXPORTER, ''",
    "MIN_FLUSH_SPANS, 0",
    "MIN_FLUSH_SPANS, many",
    "FLUSH_INTERVAL_MS, -1",
    "SERVER, localhost",
    "RECEIVER, 'localhost:'"
  })
  void aMistakeIsNamed(String name, String value) {
    Map<String, String> environment = new HashMap<>(GIVEN);
    environment.put(name, value);
    assertThatThrownBy(() -> Settings.of(environment))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(name + ": saw '" + value + "', wanted ");
  }
}
