/**
 * What a topology requires of each node, without side effects: no clock, no network, no framework,
 * no telemetry. The build rejects other dependencies than the JSON parser.
 */
package tollbooth.workload;
