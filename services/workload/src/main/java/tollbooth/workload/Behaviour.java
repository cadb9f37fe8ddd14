package tollbooth.workload;

import java.util.List;
import java.util.Map;

/** What a node does when asked: a function of topology, seed, and what comes with the call. */
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

  /** What can be asked, in the topology's order. */
  public List<String> operations() {
    return List.copyOf(operations.keySet());
  }

  /**
   * Works out what one call makes the node do.
   *
   * @param held what the node itself is made to do just now, over request and topology
   * @throws UnknownOperationException where the node has no such operation
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
