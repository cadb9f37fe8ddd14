/** What OpenTelemetry's Spring Boot starter leaves to its user where gRPC is spoken. */
package tollbooth.telemetry.starter.grpc;
