/** What every telemetry variant must keep, for its tests to extend. */
package tollbooth.telemetry.contract;
