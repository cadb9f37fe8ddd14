package tollbooth.workload;

import java.util.Collections;
import java.util.Map;
import java.util.stream.Stream;

/**
 * One container of the system under test.
 *
 * @param kind one of {@link Kinds#ALL}
 * @param routes of a gateway: the client's name for an operation, and the operation; else empty
 * @param operations of any other kind: what it can be asked, by name; else empty
 */
public record Node(String kind, Map<String, Target> routes, Map<String, Operation> operations) {

  /** Never changes once made; keeps the topology's order. */
  public Node {
    routes = Collections.unmodifiableMap(routes);
    operations = Collections.unmodifiableMap(operations);
  }

  /** Whatever this node calls, in the topology's order; the same may come again. */
  public Stream<Target> callees() {
    return Stream.concat(
        routes.values().stream(), operations.values().stream().flatMap(Operation::callees));
  }
}
