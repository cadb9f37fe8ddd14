package tollbooth.workload;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a node does when it is asked: it waits, then fails or does not, then makes its calls.
 *
 * @param latency how long it waits
 * @param errorProbability how often it fails, 0..1
 * @param calls what it asks of others
 */
public record Operation(Duration latency, double errorProbability, List<CallGroup> calls) {

  /** Keeps a copy of its own, so that an operation never changes. */
  public Operation {
    calls = List.copyOf(calls);
  }

  /** Whatever it calls, each target of each group once. */
  Stream<Target> callees() {
    return calls.stream().flatMap(group -> group.to().stream());
  }
}
