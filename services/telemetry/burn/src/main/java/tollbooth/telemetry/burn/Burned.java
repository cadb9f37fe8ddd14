package tollbooth.telemetry.burn;

/**
 * What was burned so far.
 *
 * @param times how often
 * @param cpuNs CPU time by the kernel's clock of the threads, in nanoseconds
 */
record Burned(long times, long cpuNs) {}
