/** A tracer for OpenTelemetry's API that serializes a span as its methods are called. */
package tollbooth.telemetry.streaming;
