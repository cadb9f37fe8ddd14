package tollbooth.telemetry.streaming.spring;

import io.opentelemetry.api.OpenTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import tollbooth.telemetry.streaming.StreamingOpenTelemetry;
import tollbooth.telemetry.streaming.StreamingSettings;
import tollbooth.web.NodeSettings;
import tools.jackson.databind.json.JsonMapper;

/** The tracer of this variant. */
@AutoConfiguration
public class StreamingConfiguration {

  /**
   * Configured by the standard {@code OTEL_*} variables. Spring closes it last, which sends the
   * remaining spans.
   */
  @Bean
  @ConditionalOnMissingBean
  OpenTelemetry openTelemetry(NodeSettings node, JsonMapper json) {
    return new CountedTelemetry(
        StreamingOpenTelemetry.start(StreamingSettings.ofProcess()),
        node.name(),
        node.readyDirectory(),
        json);
  }
}
