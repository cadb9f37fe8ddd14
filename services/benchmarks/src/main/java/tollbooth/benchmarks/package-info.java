/** What the services take by themselves, measured in one JVM (JMH). */
package tollbooth.benchmarks;
