/** Manual tracing for gRPC: on the class path only in a topology with gRPC. */
package tollbooth.telemetry.otel.grpc;
