package tollbooth.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import tollbooth.workload.Overrides;

/** The fault injected into this node, and counters of its operations that verify the fault. */
public final class NodeFault {

  private final LongAdder operations = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder waitedNs = new LongAdder();
  private final LongAdder givenUp = new LongAdder();
  private volatile Overrides held = Overrides.NONE;

  /** Overrides topology and request, for operations that start now. */
  public Overrides held() {
    return held;
  }

  /** Replaces the fault, for every operation that starts after this. */
  public void become(Overrides next) {
    held = next;
  }

  /**
   * Counts an operation at the end of its wait.
   *
   * @param startNs the start of its wait, from {@link System#nanoTime}
   * @param fails whether it fails as drawn
   */
  public void ended(long startNs, boolean fails) {
    operations.increment();
    waitedNs.add(System.nanoTime() - startNs);
    if (fails) {
      errors.increment();
    }
  }

  /** Counts an operation whose client gave up during its wait. */
  public void gaveUp() {
    givenUp.increment();
  }

  /** The counters since the start, with the names in docs/reference/formats.md. */
  public Map<String, Object> counted() {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("operations", operations.sum());
    counted.put("errors", errors.sum());
    counted.put("waited_ns", waitedNs.sum());
    counted.put("given_up", givenUp.sum());
    return counted;
  }
}
