package tollbooth.benchmarks.spans;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What an iteration of a paced loop cost in all; JMH resets and adds up the public fields. */
@AuxCounters(AuxCounters.Type.EVENTS)
@State(Scope.Thread)
public class PacedCost {

  /** CPU time, in nanoseconds. */
  public long cpuNs;

  /** Of the requests' bodies. */
  public long bodyBytes;

  /** Acknowledged. */
  public long spans;

  /** CPU time of the backend, in nanoseconds. */
  public long backendCpuNs;

  /** What the loop takes at its rate, in nanoseconds. */
  public long plannedNs;

  /** What it took, until the last span was acknowledged. */
  public long takenNs;
}
