package tollbooth.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a call graph must keep to: every target exists, no request goes on without end or beyond a bound. */
final class TopologyRules {

  /** The most calls that one request may make in all, the gateway's own included. */
  static final int MOST_CALLS = 10_000;

  private final Topology topology;
  private final Map<Target, Long> callsBelow = new HashMap<>();

  TopologyRules(Topology topology) {
    this.topology = topology;
  }

  void check() {
    checkEntry();
    topology.nodes().forEach(this::checkTargets);
    topology.nodes().forEach(this::checkCycles);
    topology.nodes().forEach(this::checkSize);
  }

  private void checkEntry() {
    Node entry = topology.nodes().get(topology.entry());
    if (entry == null) {
      String hint = Nearest.hint(topology.entry(), topology.nodes().keySet());
      throw new TopologyException(topology.entry(), "entry", "there is no such node; " + hint);
    }
    if (!entry.kind().equals(Kinds.GATEWAY)) {
      throw new TopologyException(topology.entry(), "entry", "must be a node of kind gateway");
    }
  }

  private void checkTargets(String name, Node node) {
    node.routes().forEach((route, target) -> checkTarget(name, "routes." + route, target));
    node.operations()
        .forEach(
            (operation, body) ->
                body.calls().stream()
                    .flatMap(group -> group.to().stream())
                    .forEach(target -> checkTarget(name, callsOf(operation), target)));
  }

  private void checkTarget(String name, String field, Target target) {
    Node callee = topology.nodes().get(target.node());
    if (callee == null) {
      String hint = Nearest.hint(target.node(), topology.nodes().keySet());
      throw new TopologyException(
          name, field, "calls " + target + ", but there is no node '" + target.node() + "'; " + hint);
    }
    if (!callee.operations().containsKey(target.operation())) {
      String hint = Nearest.hint(target.operation(), callee.operations().keySet());
      throw new TopologyException(
          name, field, "calls " + target + ", which has no such operation; " + hint);
    }
  }

  private void checkCycles(String name, Node node) {
    node.operations().keySet().forEach(op -> visit(new Target(name, op), new ArrayList<>()));
  }

  /** Depth first; counts calls on the way back, so that every operation is visited once. */
  private void visit(Target target, List<Target> way) {
    int seen = way.indexOf(target);
    if (seen >= 0) {
      List<String> cycle = new ArrayList<>(way.subList(seen, way.size()).stream().map(Target::toString).toList());
      cycle.add(target.toString());
      throw new TopologyException(
          target.node(),
          callsOf(target.operation()),
          "a request would never end: " + String.join(" -> ", cycle));
    }
    if (callsBelow.containsKey(target)) {
      return;
    }
    way.add(target);
    long calls = 0;
    for (List<Call> stage : CallPlan.of(topology.operation(target))) {
      for (Call call : stage) {
        visit(call.target(), way);
        calls += 1 + callsBelow.get(call.target());
      }
    }
    way.removeLast();
    // Bounded, so that doublings of doublings do not overflow.
    callsBelow.put(target, Math.min(calls, MOST_CALLS + 1L));
  }

  private void checkSize(String name, Node node) {
    node.routes()
        .forEach(
            (route, target) -> {
              if (1 + callsBelow.get(target) > MOST_CALLS) {
                throw new TopologyException(
                    name,
                    "routes." + route,
                    "a request would make more than " + MOST_CALLS + " calls in all; lower 'times'");
              }
            });
  }

  private static String callsOf(String operation) {
    return "operations." + operation + ".calls";
  }
}
