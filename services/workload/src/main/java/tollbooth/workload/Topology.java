package tollbooth.workload;

import java.util.Collections;
import java.util.Map;

/**
 * A call graph over operations of nodes. Made by {@link #parse}, so it is always a valid one.
 *
 * @param entry the name of the node that the load generator asks: one of {@link Kinds#ENTRIES}
 * @param nodes every node by name, in the file's order
 */
public record Topology(String entry, Map<String, Node> nodes) {

  /** Never changes once made; keeps the file's order. */
  public Topology {
    nodes = Collections.unmodifiableMap(nodes);
  }

  /**
   * Reads a topology.
   *
   * @param yaml the text of a topology file, see docs/formats.md
   * @throws TopologyException where it is not a valid topology, naming the node and the field
   */
  public static Topology parse(String yaml) {
    Topology topology = new TopologyReader().read(yaml);
    new TopologyRules(topology).check();
    return topology;
  }

  /** The operation that a target names; there always is one. */
  Operation operation(Target target) {
    return nodes.get(target.node()).operations().get(target.operation());
  }
}
