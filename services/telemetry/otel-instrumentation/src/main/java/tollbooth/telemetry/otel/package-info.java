/**
 * Manual tracing with OpenTelemetry's API. Spring Boot finds it on the class path; the services do
 * not depend on it.
 */
package tollbooth.telemetry.otel;
