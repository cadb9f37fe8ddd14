package tollbooth.telemetry.otel;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.task.TaskDecorator;

/** Adds tracing through Spring Boot's extension points. */
@AutoConfiguration
public class TracingConfiguration {

  private static final String SCOPE = "tollbooth.otel-manual";

  /**
   * Configured by the standard {@code OTEL_*} variables. Spring closes it last, which flushes the
   * remaining spans.
   */
  @Bean
  @ConditionalOnMissingBean
  OpenTelemetry openTelemetry() {
    ExtraAttributes extra = ExtraAttributes.parse(System.getenv(ExtraAttributes.VARIABLE));
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addTracerProviderCustomizer((spans, properties) -> extra.addTo(spans))
        .disableShutdownHook()
        .build()
        .getOpenTelemetrySdk();
  }

  /** The first of all filters: the span covers all the work of a request. */
  @Bean
  FilterRegistrationBean<ServerSpans> serverSpans(OpenTelemetry telemetry) {
    FilterRegistrationBean<ServerSpans> registration =
        new FilterRegistrationBean<>(new ServerSpans(tracer(telemetry), propagator(telemetry)));
    registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
    return registration;
  }

  @Bean
  RestClientCustomizer clientSpans(OpenTelemetry telemetry) {
    ClientSpans spans = new ClientSpans(tracer(telemetry), propagator(telemetry));
    return client -> client.requestInterceptor(spans);
  }

  /** Carries the context to the threads of parallel calls. */
  @Bean
  TaskDecorator contextToTasks() {
    return task -> Context.current().wrap(task);
  }

  private static Tracer tracer(OpenTelemetry telemetry) {
    return telemetry.getTracer(SCOPE);
  }

  private static TextMapPropagator propagator(OpenTelemetry telemetry) {
    return telemetry.getPropagators().getTextMapPropagator();
  }
}
