package tollbooth.telemetry.manual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import org.junit.jupiter.api.Test;
import tollbooth.web.SettingsException;

class ProcessorChoiceTest {

  private final SpanExporter exporter = SpanExporter.composite();

  @Test
  void theSdksOwnProcessorStays() {
    try (SpanProcessor own = BatchSpanProcessor.builder(exporter).build()) {
      assertThat(ProcessorChoice.parse(null).apply(own)).isSameAs(own);
      assertThat(ProcessorChoice.parse("batch").apply(own)).isSameAs(own);
    }
  }

  @Test
  void aSimpleOneTakesItsExporter() {
    try (SpanProcessor own = BatchSpanProcessor.builder(exporter).build()) {
      assertThat(ProcessorChoice.parse("simple").apply(own))
          .isInstanceOfSatisfying(
              SimpleSpanProcessor.class,
              simple -> assertThat(simple.getSpanExporter()).isSameAs(exporter));
    }
  }

  @Test
  void anotherNameIsAnError() {
    assertThatThrownBy(() -> ProcessorChoice.parse("sample"))
        .isInstanceOf(SettingsException.class)
        .hasMessage("TOLLBOOTH_SPAN_PROCESSOR: must be batch or simple, not 'sample'");
  }
}
