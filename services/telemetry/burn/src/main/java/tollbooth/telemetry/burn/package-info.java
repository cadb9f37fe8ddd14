/**
 * Burns a known amount of CPU time, so that a measurement can be compared with the truth. Spring
 * Boot finds it on the class path; the services do not depend on it.
 */
package tollbooth.telemetry.burn;
