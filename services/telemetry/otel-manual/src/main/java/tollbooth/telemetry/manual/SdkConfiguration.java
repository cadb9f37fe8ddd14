package tollbooth.telemetry.manual;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.function.UnaryOperator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The tracer of this variant: OpenTelemetry's SDK. */
@AutoConfiguration
public class SdkConfiguration {

  /**
   * Configured by the standard {@code OTEL_*} variables, and {@link ProcessorChoice}. Spring closes
   * it last, which flushes the remaining spans.
   */
  @Bean
  @ConditionalOnMissingBean
  OpenTelemetry openTelemetry() {
    UnaryOperator<SpanProcessor> choice =
        ProcessorChoice.parse(System.getenv(ProcessorChoice.VARIABLE));
    return AutoConfiguredOpenTelemetrySdk.builder()
        .disableShutdownHook()
        .addSpanProcessorCustomizer((processor, properties) -> choice.apply(processor))
        .build()
        .getOpenTelemetrySdk();
  }
}
