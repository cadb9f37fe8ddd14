package tollbooth.workload;

import java.util.List;

/**
 * Calls that one operation makes, as the topology writes them.
 *
 * @param to the targets, which the calls take in turn
 * @param times how many calls in all
 * @param order whether each call waits for the one before
 */
public record CallGroup(List<Target> to, int times, Order order) {

  /** How the calls of a group follow each other. */
  public enum Order {
    /** One after the other. */
    SEQUENCE,
    /** All at the same time. */
    PARALLEL
  }

  /** Keeps a copy of its own, so that a group never changes. */
  public CallGroup {
    to = List.copyOf(to);
  }
}
