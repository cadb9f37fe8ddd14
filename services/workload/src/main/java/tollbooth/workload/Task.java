package tollbooth.workload;

import java.time.Duration;
import java.util.List;

/**
 * What a node does for one call, worked out: it waits, then fails or does not, then makes calls.
 *
 * @param operation the operation's name
 * @param latency how long it waits
 * @param fails whether it then fails
 * @param stages its calls; those of one stage go out together
 * @param calls how many these are
 * @param head what came with the call
 */
public record Task(
    String operation,
    Duration latency,
    boolean fails,
    List<List<Call>> stages,
    int calls,
    CallHead head) {

  /** What goes with one of its calls. */
  public CallHead head(Call call) {
    return head.below(call.index());
  }
}
