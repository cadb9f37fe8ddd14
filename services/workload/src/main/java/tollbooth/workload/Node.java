package tollbooth.workload;

import java.util.Collections;
import java.util.Map;
import java.util.stream.Stream;

/**
 * One container of the system under test.
 *
 * @param kind such as {@link Kinds#SVC_A}
 * @param routes of a gateway: the client's name for an operation, and the operation; else empty
 * @param operations of a service: its operations by name, in the topology's order; else empty
 */
public record Node(String kind, Map<String, Target> routes, Map<String, Operation> operations) {

  /** Immutable; keeps the topology's order. */
  public Node {
    routes = Collections.unmodifiableMap(routes);
    operations = Collections.unmodifiableMap(operations);
  }

  /** The names of the nodes that this node calls, each once. */
  public Stream<String> peers() {
    Stream<Target> called = operations.values().stream().flatMap(Operation::targets);
    return Stream.concat(routes.values().stream(), called).map(Target::node).distinct();
  }
}
