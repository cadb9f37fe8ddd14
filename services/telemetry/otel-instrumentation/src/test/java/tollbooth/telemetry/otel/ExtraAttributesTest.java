package tollbooth.telemetry.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.svca.Application;
import tollbooth.web.SettingsException;
import tollbooth.web.testing.EndedProcess;
import tollbooth.web.testing.Topologies;

class ExtraAttributesTest {

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 28, 100})
  void addsSoManyStringsToEverySpan(int count) {
    assertThat(attributesOfTwoSpans(Integer.toString(count)))
        .hasSize(2)
        .allSatisfy(attributes -> assertThat(attributes.asMap()).hasSize(count))
        .allSatisfy(attributes ->
            assertThat(attributes.asMap().values())
                .allSatisfy(value -> assertThat(value).asString().hasSizeGreaterThanOrEqualTo(4)));
  }

  @Test
  void addsNoneWhereTheVariableIsNotSet() {
    assertThat(attributesOfTwoSpans(null)).containsOnly(Attributes.empty());
  }

  @Test
  void changesEverySecondValueFromSpanToSpan() {
    List<Attributes> spans = attributesOfTwoSpans("10");
    long same =
        spans.getFirst().asMap().entrySet().stream()
            .filter(entry -> entry.getValue().equals(spans.getLast().get(entry.getKey())))
            .count();

    assertThat(same).isEqualTo(5);
  }

  private static List<Attributes> attributesOfTwoSpans(String text) {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    ExtraAttributes extra = ExtraAttributes.parse(text);
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(spans))
            .setIdGenerator(new CountingIds())
            .build()) {
      extra.addTo(provider.get("test").spanBuilder("one").startSpan()).end();
      extra.addTo(provider.get("test").spanBuilder("two").startSpan()).end();
      return spans.getFinishedSpanItems().stream().map(SpanData::getAttributes).toList();
    }
  }

  /** Ids that differ where it matters, without luck. */
  private static final class CountingIds implements IdGenerator {

    private int count;

    @Override
    public String generateSpanId() {
      return "%05x".formatted(++count) + "0".repeat(11);
    }

    @Override
    public String generateTraceId() {
      return "1".repeat(32);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "many", "-1", "1.5", "101", "99999999999"})
  void rejectsAnInvalidNumberOfAttributes(String text) {
    assertThatThrownBy(() -> ExtraAttributes.parse(text))
        .isInstanceOf(SettingsException.class)
        .hasMessage(
            "TOLLBOOTH_EXTRA_ATTRIBUTES: must be a whole number from 0 to 100, not '%s'", text);
  }

  @Test
  void endsTheServiceWithOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("topology.json"), Topologies.REST);
    EndedProcess service =
        EndedProcess.run(
            Application.class,
            Map.of(
                "NODE", "a1",
                "TOPOLOGY_FILE", file.toString(),
                "TOLLBOOTH_EXTRA_ATTRIBUTES", "many"));

    assertThat(service.exitCode()).isEqualTo(2);
    assertThat(service.errors().strip()).hasLineCount(1).contains("TOLLBOOTH_EXTRA_ATTRIBUTES");
    assertThat(service.output()).isEmpty();
  }
}
