package tollbooth.workload;

import java.util.List;
import java.util.Map;

/** What a node does for a request: a function of topology, seed and the call's head. */
public final class Behaviour {

  private final Map<String, Operation> operations;
  private final Draws draws;

  /**
   * The behaviour of one node.
   *
   * @param name the node's name
   * @param node its part of the topology
   * @param seed of every draw
   */
  public Behaviour(String name, Node node, long seed) {
    operations = node.operations();
    draws = new Draws(seed, name);
  }

  /** The names of its operations, in the topology's order. */
  public List<String> operations() {
    return List.copyOf(operations.keySet());
  }

  /**
   * Determines what the node does for one call.
   *
   * @param held the node's injected fault; it overrides request and topology
   * @throws UnknownOperationException if the node has no such operation
   */
  public Task task(String name, CallHead head, Overrides held) {
    Operation operation = operations.get(name);
    if (operation == null) {
      throw new UnknownOperationException(name, operations.keySet());
    }
    Overrides overrides = held.over(head.overrides());
    return new Task(
        name,
        overrides.latency(operation),
        draws.fails(head.path(), overrides.errorProbability(operation)),
        operation.stages(),
        operation.calls(),
        head);
  }
}
