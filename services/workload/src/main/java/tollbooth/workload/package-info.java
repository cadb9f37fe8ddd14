/**
 * What a topology asks of each node, without any effect: no clock, no network, no framework, no
 * telemetry. The build refuses dependencies that would change that.
 */
package tollbooth.workload;
