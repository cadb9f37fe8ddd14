package tollbooth.telemetry.manual;

import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.function.UnaryOperator;
import tollbooth.web.SettingsException;

/** What takes ended spans to the exporter. OpenTelemetry has no variable for it. */
final class ProcessorChoice {

  /** {@code batch}, as by default, or {@code simple}: each span is a request of its own. */
  static final String VARIABLE = "TOLLBOOTH_SPAN_PROCESSOR";

  private ProcessorChoice() {}

  /**
   * Reads the variable's value.
   *
   * @param text null if it is not set
   * @return what becomes of the SDK's own processor
   * @throws SettingsException if it is no processor's name
   */
  static UnaryOperator<SpanProcessor> parse(String text) {
    return switch (text == null ? "batch" : text) {
      case "batch" -> UnaryOperator.identity();
      case "simple" -> ProcessorChoice::simple;
      default ->
          throw new SettingsException(VARIABLE + ": must be batch or simple, not '" + text + "'");
    };
  }

  /** The thread of the processor that batches stays, without work. */
  private static SpanProcessor simple(SpanProcessor batching) {
    return SimpleSpanProcessor.create(((BatchSpanProcessor) batching).getSpanExporter());
  }
}
