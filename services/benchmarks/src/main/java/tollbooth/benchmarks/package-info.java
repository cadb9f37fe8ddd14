/** What the services and the tracers cost, each measured in one JVM (JMH). */
package tollbooth.benchmarks;
