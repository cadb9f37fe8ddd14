package tollbooth.telemetry.burn;

import java.util.concurrent.atomic.LongAdder;
import tollbooth.web.CpuClock;

/** Burns on the threads of requests: another thread would add two changes of threads to each. */
final class RequestBurn {

  private final LongAdder times = new LongAdder();
  private final LongAdder burnedNs = new LongAdder();

  /** Uses this much CPU time, and returns then. */
  void burn(long cpuNs) {
    long startNs = CpuClock.THREAD.ns();
    burnedNs.add(Computation.until(CpuClock.THREAD::ns, startNs + cpuNs) - startNs);
    times.increment();
  }

  Burned burned() {
    return new Burned(times.sum(), burnedNs.sum());
  }
}
