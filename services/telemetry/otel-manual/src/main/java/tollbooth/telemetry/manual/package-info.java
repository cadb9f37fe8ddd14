/** OpenTelemetry's SDK for the spans that are written by hand. */
package tollbooth.telemetry.manual;
