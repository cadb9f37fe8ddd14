/** A backend in memory, for the tests of the tracer and of its variant. */
package tollbooth.telemetry.streaming.testing;
