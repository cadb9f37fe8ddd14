package tollbooth.telemetry.starter.grpc;

import io.grpc.ClientInterceptor;
import io.grpc.ServerInterceptor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.instrumentation.grpc.v1_6.GrpcTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.client.GlobalClientInterceptor;
import org.springframework.grpc.server.GlobalServerInterceptor;

/** The starter does not instrument gRPC; the library instrumentation of its project does. */
@AutoConfiguration
public class GrpcConfiguration {

  @Bean
  GrpcTelemetry grpcTelemetry(OpenTelemetry telemetry) {
    return GrpcTelemetry.create(telemetry);
  }

  @Bean
  @GlobalServerInterceptor
  ServerInterceptor grpcServerSpans(GrpcTelemetry telemetry) {
    return telemetry.createServerInterceptor();
  }

  @Bean
  @GlobalClientInterceptor
  ClientInterceptor grpcClientSpans(GrpcTelemetry telemetry) {
    return telemetry.createClientInterceptor();
  }
}
