/** An exporter for OpenTelemetry's SDK, and for its agent, that sends nothing. */
package tollbooth.telemetry.discard;
