/** What OpenTelemetry's Spring Boot starter leaves to its user. */
package tollbooth.telemetry.starter;
