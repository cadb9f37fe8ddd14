/** What the tests of this variant share with those of its part for gRPC. */
package tollbooth.telemetry.streaming.spring.testing;
