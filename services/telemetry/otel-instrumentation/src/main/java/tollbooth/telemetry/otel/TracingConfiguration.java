package tollbooth.telemetry.otel;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.task.TaskDecorator;

/** Adds tracing through Spring Boot's extension points. The variant brings the tracer. */
@AutoConfiguration
public class TracingConfiguration {

  private static final String SCOPE = "tollbooth.otel-manual";

  @Bean
  ExtraAttributes extraAttributes() {
    return ExtraAttributes.parse(System.getenv(ExtraAttributes.VARIABLE));
  }

  /** The first of all filters: the span covers all the work of a request. */
  @Bean
  FilterRegistrationBean<ServerSpans> serverSpans(OpenTelemetry telemetry, ExtraAttributes extra) {
    FilterRegistrationBean<ServerSpans> registration =
        new FilterRegistrationBean<>(
            new ServerSpans(tracer(telemetry), propagator(telemetry), extra));
    registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
    return registration;
  }

  @Bean
  RestClientCustomizer clientSpans(OpenTelemetry telemetry, ExtraAttributes extra) {
    ClientSpans spans = new ClientSpans(tracer(telemetry), propagator(telemetry), extra);
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
