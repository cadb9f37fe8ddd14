/** What a span costs, on OpenTelemetry's SDK and on the streaming tracer (JMH). */
package tollbooth.benchmarks.spans;
