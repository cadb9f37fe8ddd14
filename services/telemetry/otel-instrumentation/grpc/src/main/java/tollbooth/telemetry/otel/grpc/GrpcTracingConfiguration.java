package tollbooth.telemetry.otel.grpc;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.propagation.TextMapPropagator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.client.GlobalClientInterceptor;
import org.springframework.grpc.server.GlobalServerInterceptor;
import tollbooth.telemetry.otel.ExtraAttributes;

/** Adds tracing to gRPC's clients and servers, with the tracer of the variant. */
@AutoConfiguration
public class GrpcTracingConfiguration {

  private static final String SCOPE = "tollbooth.otel-manual";

  @Bean
  @GlobalServerInterceptor
  GrpcServerSpans grpcServerSpans(OpenTelemetry telemetry, ExtraAttributes extra) {
    return new GrpcServerSpans(tracer(telemetry), propagator(telemetry), extra);
  }

  @Bean
  @GlobalClientInterceptor
  GrpcClientSpans grpcClientSpans(OpenTelemetry telemetry, ExtraAttributes extra) {
    return new GrpcClientSpans(tracer(telemetry), propagator(telemetry), extra);
  }

  private static Tracer tracer(OpenTelemetry telemetry) {
    return telemetry.getTracer(SCOPE);
  }

  private static TextMapPropagator propagator(OpenTelemetry telemetry) {
    return telemetry.getPropagators().getTextMapPropagator();
  }
}
