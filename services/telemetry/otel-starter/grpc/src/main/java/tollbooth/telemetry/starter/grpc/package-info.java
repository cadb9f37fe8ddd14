/** What a user of OpenTelemetry's Spring Boot starter must add for gRPC. */
package tollbooth.telemetry.starter.grpc;
