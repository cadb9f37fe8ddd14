/** Tracing written by hand, for gRPC: on the class path only where a topology speaks it. */
package tollbooth.telemetry.otel.grpc;
