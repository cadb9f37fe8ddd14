package tollbooth.workload;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a call graph must keep to: every target exists, no request goes on without end or beyond a
 * bound.
 */
final class TopologyRules {

  /** The most calls that one request may make in all, a gateway's own included. */
  static final int MOST_CALLS = 10_000;

  private final Topology topology;

  TopologyRules(Topology topology) {
    this.topology = topology;
  }

  void check() {
    checkEntry();
    topology.nodes().forEach(this::checkTargets);
    Map<Target, Long> calls = countCalls();
    topology.nodes().forEach((name, node) -> checkRoutes(name, node, calls));
    checkEntryOperations(calls);
  }

  private void checkEntry() {
    Node entry = topology.nodes().get(topology.entry());
    if (entry == null) {
      String hint = Nearest.hint(topology.entry(), topology.nodes().keySet());
      throw new TopologyException(topology.entry(), "entry", "there is no such node; " + hint);
    }
    if (!Kinds.ENTRIES.contains(entry.kind())) {
      throw new TopologyException(
          topology.entry(),
          "entry",
          "must be a node of kind " + String.join(" or ", Kinds.ENTRIES) + ", not " + entry.kind());
    }
  }

  private void checkTargets(String name, Node node) {
    node.routes().forEach((route, target) -> checkTarget(name, "routes." + route, target));
    node.operations()
        .forEach((operation, body) ->
            body.callees().forEach(target -> checkTarget(name, callsField(operation), target)));
  }

  private void checkTarget(String name, String field, Target target) {
    Node callee = topology.nodes().get(target.node());
    if (callee == null) {
      String hint = Nearest.hint(target.node(), topology.nodes().keySet());
      throw new TopologyException(
          name,
          field,
          "calls " + target + ", but there is no node '" + target.node() + "'; " + hint);
    }
    if (!callee.operations().containsKey(target.operation())) {
      String hint = Nearest.hint(target.operation(), callee.operations().keySet());
      throw new TopologyException(
          name, field, "calls " + target + ", which has no such operation; " + hint);
    }
  }

  private static void checkRoutes(String name, Node node, Map<Target, Long> calls) {
    node.routes()
        .forEach((route, target) -> checkSize(name, "routes." + route, 1 + calls.get(target)));
  }

  /** A client may ask an entry without routes for any of its operations. */
  private void checkEntryOperations(Map<Target, Long> calls) {
    String entry = topology.entry();
    for (String operation : topology.nodes().get(entry).operations().keySet()) {
      checkSize(entry, callsField(operation), calls.get(new Target(entry, operation)));
    }
  }

  private static void checkSize(String name, String field, long calls) {
    if (calls > MOST_CALLS) {
      throw new TopologyException(
          name,
          field,
          "a request would make more than " + MOST_CALLS + " calls in all; lower 'times'");
    }
  }

  /**
   * How many calls each operation leads to, from the leaves upwards (Kahn, 1962): each operation
   * once, however many ways lead to it. What is left over at the end waits for itself.
   */
  private Map<Target, Long> countCalls() {
    Map<Target, Set<Target>> uncounted = callees();
    Map<Target, List<Target>> callers = new HashMap<>();
    uncounted.forEach((caller, callees) ->
        callees.forEach(
            callee -> callers.computeIfAbsent(callee, key -> new ArrayList<>()).add(caller)));
    Deque<Target> countable = new ArrayDeque<>();
    uncounted.forEach((caller, callees) -> addIf(callees.isEmpty(), caller, countable));

    Map<Target, Long> calls = new HashMap<>();
    while (!countable.isEmpty()) {
      Target counted = countable.remove();
      uncounted.remove(counted);
      calls.put(counted, callsOf(topology.operation(counted), calls));
      for (Target caller : callers.getOrDefault(counted, List.of())) {
        Set<Target> left = uncounted.get(caller);
        left.remove(counted);
        addIf(left.isEmpty(), caller, countable);
      }
    }
    if (!uncounted.isEmpty()) {
      throw cycle(uncounted);
    }
    return calls;
  }

  /** Every operation, with the operations that it calls itself. */
  private Map<Target, Set<Target>> callees() {
    Map<Target, Set<Target>> callees = new LinkedHashMap<>();
    topology
        .nodes()
        .forEach((name, node) ->
            node.operations()
                .forEach((operation, body) ->
                    callees.put(
                        new Target(name, operation),
                        body.callees().collect(Collectors.toCollection(LinkedHashSet::new)))));
    return callees;
  }

  private static void addIf(boolean wanted, Target target, Deque<Target> targets) {
    if (wanted) {
      targets.add(target);
    }
  }

  private static long callsOf(Operation operation, Map<Target, Long> calls) {
    long sum = 0;
    for (List<Call> stage : CallPlan.of(operation)) {
      for (Call call : stage) {
        sum += 1 + calls.get(call.target());
      }
    }
    // Bounded, so that doublings of doublings do not overflow.
    return Math.min(sum, MOST_CALLS + 1L);
  }

  /** Follows operations that wait for each other until one comes again. */
  private static TopologyException cycle(Map<Target, Set<Target>> waiting) {
    List<Target> way = new ArrayList<>();
    Set<Target> seen = new HashSet<>();
    Target next = waiting.keySet().iterator().next();
    while (seen.add(next)) {
      way.add(next);
      next = waiting.get(next).iterator().next();
    }
    String cycle =
        way.subList(way.indexOf(next), way.size()).stream()
            .map(Target::toString)
            .collect(Collectors.joining(" -> "));
    return new TopologyException(
        next.node(),
        callsField(next.operation()),
        "a request would never end: " + cycle + " -> " + next);
  }

  private static String callsField(String operation) {
    return "operations." + operation + ".calls";
  }
}
