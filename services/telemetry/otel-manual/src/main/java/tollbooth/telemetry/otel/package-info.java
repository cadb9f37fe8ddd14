/**
 * Tracing written by hand with OpenTelemetry's API. Spring Boot finds it on the class path; the
 * services do not know of it.
 */
package tollbooth.telemetry.otel;
