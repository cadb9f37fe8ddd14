/** What a user of OpenTelemetry's Spring Boot starter must add. */
package tollbooth.telemetry.starter;
