package tollbooth.telemetry.starter.grpc;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import java.util.Map;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.contract.OpenTelemetrySpans;

/** The spans that the starter and the library instrumentation make. */
class GrpcTracingTest extends GrpcTracingContract {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @Override
  protected Map<String, Object> beans() {
    AutoConfigurationCustomizerProvider keepingSpans =
        sdk ->
            sdk.addTracerProviderCustomizer(
                (provider, settings) -> provider.addSpanProcessor(spans.keeping()));
    return Map.of("keepingSpans", keepingSpans);
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of(
        "otel.traces.exporter", "none",
        "otel.metrics.exporter", "none",
        "otel.logs.exporter", "none");
  }

  @Override
  protected OpenTelemetrySpans spans() {
    return spans;
  }
}
