package tollbooth.workload;

import java.time.Duration;
import java.util.List;

/**
 * What a node does for one call: it waits, fails or not, then makes its calls.
 *
 * @param operation the operation's name
 * @param latency how long it waits
 * @param fails whether it then fails
 * @param stages its calls; those of one stage run in parallel
 * @param calls how many calls these are
 * @param head the head of the call
 */
public record Task(
    String operation,
    Duration latency,
    boolean fails,
    List<List<Call>> stages,
    int calls,
    CallHead head) {

  /** The head of one of its calls. */
  public CallHead head(Call call) {
    return head.below(call.index());
  }
}
