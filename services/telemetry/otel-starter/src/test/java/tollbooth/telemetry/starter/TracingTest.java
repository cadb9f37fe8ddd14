package tollbooth.telemetry.starter;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import java.util.Map;
import tollbooth.telemetry.contract.OpenTelemetryTracingContract;

/** The spans that the starter makes with its own SDK. */
class TracingTest extends OpenTelemetryTracingContract {

  @Override
  protected Map<String, Object> beans() {
    AutoConfigurationCustomizerProvider keepingSpans =
        sdk ->
            sdk.addTracerProviderCustomizer(
                (provider, settings) -> provider.addSpanProcessor(spans().keeping()));
    return Map.of("keepingSpans", keepingSpans);
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of(
        "otel.traces.exporter", "none",
        "otel.metrics.exporter", "none",
        "otel.logs.exporter", "none");
  }
}
