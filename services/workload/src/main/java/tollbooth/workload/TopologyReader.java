package tollbooth.workload;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Turns YAML into a topology: form and values. What the graph means is {@link TopologyRules}' part.
 */
final class TopologyReader {

  private static final String FORMAT = "tollbooth.topology";
  private static final int VERSION = 1;
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,30}");
  private static final String NAME_RULE =
      "names are a lower-case letter, then at most 30 of a-z, 0-9 and '-'";
  private static final double LONGEST_LATENCY_MS = 60_000;

  Topology read(String yaml) {
    Object tree = load(yaml);
    if (tree == null) {
      throw new TopologyException("topology", "empty", "there is nothing in the file");
    }
    Fields file = Fields.ofFile(tree).only("format", "version", "entry", "nodes");
    if (!FORMAT.equals(file.text("format"))) {
      throw file.fault("format", "must be " + FORMAT);
    }
    if (file.wholeNumber("version", 0, Integer.MAX_VALUE).filter(v -> v == VERSION).isEmpty()) {
      throw file.fault("version", "this reader knows only version " + VERSION);
    }
    Map<String, Node> nodes = new LinkedHashMap<>();
    file.mapping("nodes").forEach((name, value) -> nodes.put(name, node(name, value)));
    return new Topology(file.text("entry"), nodes);
  }

  private static Object load(String yaml) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    try {
      return new Yaml(new SafeConstructor(options)).load(yaml);
    } catch (YAMLException broken) {
      throw new TopologyException(
          "topology", "YAML", broken.getMessage().strip().replaceAll("\\s+", " "));
    }
  }

  private static Node node(String name, Object value) {
    if (!NAME.matcher(name).matches()) {
      throw new TopologyException(name, "nodes", "not a node's name: " + NAME_RULE);
    }
    Fields fields = Fields.ofNode(name, value).only("kind", "routes", "operations");
    String kind = fields.text("kind");
    if (!Kinds.ALL.contains(kind)) {
      throw fields.fault("kind", "unknown kind; " + Nearest.hint(kind, Kinds.ALL));
    }
    return kind.equals(Kinds.GATEWAY) ? gateway(fields) : service(kind, fields);
  }

  private static Node gateway(Fields fields) {
    fields.only("kind", "routes");
    Map<String, Target> routes = new LinkedHashMap<>();
    fields
        .mapping("routes")
        .forEach((route, value) -> {
          requireName(fields, "routes", route);
          routes.put(route, fields.target("routes." + route, value));
        });
    return new Node(Kinds.GATEWAY, routes, Map.of());
  }

  private static Node service(String kind, Fields fields) {
    fields.only("kind", "operations");
    Map<String, Operation> operations = new LinkedHashMap<>();
    fields
        .mapping("operations")
        .forEach((name, value) -> {
          requireName(fields, "operations", name);
          operations.put(name, operation(fields.below("operations." + name, value)));
        });
    return new Node(kind, Map.of(), operations);
  }

  private static void requireName(Fields fields, String key, String name) {
    if (!NAME.matcher(name).matches()) {
      throw fields.fault(key, "'" + name + "' is not a name: " + NAME_RULE);
    }
  }

  private static Operation operation(Fields fields) {
    fields.only("latency_ms", "error_probability", "calls");
    long latencyNs = Math.round(fields.number("latency_ms", LONGEST_LATENCY_MS) * 1e6);
    List<CallGroup> calls = new ArrayList<>();
    for (Object value : fields.list("calls")) {
      calls.add(callGroup(fields.below("calls", value)));
    }
    return new Operation(Duration.ofNanos(latencyNs), fields.number("error_probability", 1), calls);
  }

  private static CallGroup callGroup(Fields fields) {
    fields.only("to", "times", "order");
    List<Target> to = fields.list("to").stream().map(value -> fields.target("to", value)).toList();
    if (to.isEmpty()) {
      throw fields.fault("to", "must name at least one <node>.<operation>");
    }
    int times = fields.wholeNumber("times", 1, TopologyRules.MOST_CALLS).orElse(to.size());
    return new CallGroup(to, times, order(fields));
  }

  private static CallGroup.Order order(Fields fields) {
    if (!fields.has("order")) {
      return CallGroup.Order.SEQUENCE;
    }
    return switch (fields.text("order")) {
      case "sequence" -> CallGroup.Order.SEQUENCE;
      case "parallel" -> CallGroup.Order.PARALLEL;
      case String other ->
          throw fields.fault(
              "order", "unknown; " + Nearest.hint(other, List.of("sequence", "parallel")));
    };
  }
}
