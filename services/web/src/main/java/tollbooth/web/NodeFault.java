package tollbooth.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import tollbooth.workload.Overrides;

/** What a fault makes this node do for a while, and what its operations did: the fault's proof. */
public final class NodeFault {

  private final LongAdder operations = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder waitedNs = new LongAdder();
  private volatile Overrides held = Overrides.NONE;

  /** What holds over topology and request, for operations that begin now. */
  public Overrides held() {
    return held;
  }

  /** Lets something else hold, for every operation that begins after this. */
  public void become(Overrides next) {
    held = next;
  }

  /**
   * Counts an operation that has ended its wait.
   *
   * @param startNs when it began to wait, by {@link System#nanoTime}
   * @param fails whether it is drawn to fail
   */
  public void ended(long startNs, boolean fails) {
    operations.increment();
    waitedNs.add(System.nanoTime() - startNs);
    if (fails) {
      errors.increment();
    }
  }

  /** What was counted since the start, by the names of docs/formats.md. */
  Map<String, Object> counted() {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("operations", operations.sum());
    counted.put("errors", errors.sum());
    counted.put("waited_ns", waitedNs.sum());
    return counted;
  }
}
