/** Streams encoded spans to OTLP endpoints: one thread, sockets that do not block. */
package tollbooth.telemetry.recorder;
