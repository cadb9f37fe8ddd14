package tollbooth.telemetry.discard;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/** Provides {@code OTEL_TRACES_EXPORTER=discard}. */
public final class DiscardingExporterProvider implements ConfigurableSpanExporterProvider {

  @Override
  public SpanExporter createExporter(ConfigProperties properties) {
    return new DiscardingExporter();
  }

  @Override
  public String getName() {
    return "discard";
  }
}
