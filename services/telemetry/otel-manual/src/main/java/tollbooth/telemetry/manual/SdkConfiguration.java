package tollbooth.telemetry.manual;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The tracer of this variant: OpenTelemetry's SDK. */
@AutoConfiguration
public class SdkConfiguration {

  /**
   * Configured by the standard {@code OTEL_*} variables. Spring closes it last, which flushes the
   * remaining spans.
   */
  @Bean
  @ConditionalOnMissingBean
  OpenTelemetry openTelemetry() {
    return AutoConfiguredOpenTelemetrySdk.builder()
        .disableShutdownHook()
        .build()
        .getOpenTelemetrySdk();
  }
}
