package tollbooth.workload;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a node does when asked: a function of topology, seed, and what comes with the call. */
public final class Behaviour {

  private record Plan(Operation operation, List<List<Call>> stages, int calls) {

    static Plan of(Operation operation) {
      List<List<Call>> stages = CallPlan.of(operation);
      return new Plan(operation, stages, stages.stream().mapToInt(List::size).sum());
    }
  }

  private final Map<String, Plan> plans = new LinkedHashMap<>();
  private final Draws draws;

  /**
   * The behaviour of one node.
   *
   * @param name the node's name
   * @param node its part of the topology
   * @param seed of every draw
   */
  public Behaviour(String name, Node node, long seed) {
    node.operations().forEach((operation, body) -> plans.put(operation, Plan.of(body)));
    draws = new Draws(seed, name);
  }

  /** What can be asked, in the topology's order. */
  public List<String> operations() {
    return List.copyOf(plans.keySet());
  }

  /**
   * Works out what one call makes the node do.
   *
   * @param held what the node itself is made to do just now, over request and topology
   * @throws UnknownOperationException where the node has no such operation
   */
  public Task task(String operation, CallHead head, Overrides held) {
    Plan plan = plans.get(operation);
    if (plan == null) {
      throw new UnknownOperationException(operation, plans.keySet());
    }
    Overrides overrides = held.over(head.overrides());
    return new Task(
        operation,
        overrides.latency(plan.operation()),
        draws.fails(head.path(), overrides.errorProbability(plan.operation())),
        plan.stages(),
        plan.calls(),
        head);
  }
}
