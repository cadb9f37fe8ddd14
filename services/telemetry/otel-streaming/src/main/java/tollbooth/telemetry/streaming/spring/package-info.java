/** The streaming tracer for the spans that are written by hand. */
package tollbooth.telemetry.streaming.spring;
