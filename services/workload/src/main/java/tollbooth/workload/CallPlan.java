package tollbooth.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The calls of an operation, in the order in which they are made. */
public final class CallPlan {

  private CallPlan() {}

  /**
   * Lays an operation's calls out in stages: the calls of one stage go out together, the next stage
   * waits for all of them. A sequence is stages of one call each, a parallel group is one stage.
   */
  public static List<List<Call>> of(Operation operation) {
    List<List<Call>> stages = new ArrayList<>();
    int first = 0;
    for (CallGroup group : operation.calls()) {
      List<Call> calls = alternate(group, first);
      switch (group.order()) {
        case SEQUENCE -> calls.forEach(call -> stages.add(List.of(call)));
        case PARALLEL -> stages.add(calls);
      }
      first += group.times();
    }
    return List.copyOf(stages);
  }

  private static List<Call> alternate(CallGroup group, int first) {
    return IntStream.range(0, group.times())
        .mapToObj(i -> new Call(first + i, group.to().get(i % group.to().size())))
        .toList();
  }
}
