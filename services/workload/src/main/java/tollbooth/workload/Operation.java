package tollbooth.workload;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a node does for a request: it waits, fails or not as drawn, then makes its calls.
 *
 * @param latency how long it waits
 * @param errorProbability share of requests that fail, 0..1
 * @param stages its calls: those of one stage run in parallel, the next stage waits for all of them
 * @param calls how many calls these are
 */
public record Operation(
    Duration latency, double errorProbability, List<List<Call>> stages, int calls) {

  /** Reads an operation of a resolved topology, and numbers its calls over all stages. */
  @JsonCreator
  static Operation of(
      @JsonProperty("latency_ns") long latencyNs,
      @JsonProperty("error_probability") double errorProbability,
      @JsonProperty("stages") List<List<Target>> targets) {
    List<List<Call>> stages = new ArrayList<>();
    int index = 0;
    for (List<Target> stage : targets) {
      List<Call> calls = new ArrayList<>();
      for (Target target : stage) {
        calls.add(new Call(index++, target));
      }
      stages.add(List.copyOf(calls));
    }
    return new Operation(Duration.ofNanos(latencyNs), errorProbability, List.copyOf(stages), index);
  }

  /** The targets of its calls, in order. */
  Stream<Target> targets() {
    return stages.stream().flatMap(List::stream).map(Call::target);
  }
}
