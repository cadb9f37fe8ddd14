package tollbooth.workload;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A YAML mapping, and where in the topology it stands, so that every complaint names node and
 * field.
 */
final class Fields {

  private final String node;
  private final String path;
  private final Map<String, Object> values;

  private Fields(String node, String path, Map<String, Object> values) {
    this.node = node;
    this.path = path;
    this.values = values;
  }

  /** The file's outermost mapping. */
  static Fields ofFile(Object value) {
    if (!(value instanceof Map)) {
      throw new TopologyException("topology", "a mapping is needed", "this is " + describe(value));
    }
    return new Fields("topology", "", keyed(value));
  }

  /** A node's mapping; {@code field} is where the node is written. */
  static Fields ofNode(String node, Object value) {
    if (!(value instanceof Map)) {
      throw new TopologyException(node, "nodes", "must be a mapping, not " + describe(value));
    }
    return new Fields(node, "", keyed(value));
  }

  /** Refuses every key but these. */
  Fields only(String... known) {
    List<String> names = List.of(known);
    for (String key : values.keySet()) {
      if (!names.contains(key)) {
        throw fault(key, "unknown key; " + Nearest.hint(key, names));
      }
    }
    return this;
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  /** The names under a mapping, which must be there and not empty. */
  Map<String, Object> mapping(String key) {
    Object value = required(key);
    if (!(value instanceof Map<?, ?> map) || map.isEmpty()) {
      throw fault(key, "must be a mapping with at least one entry, not " + describe(value));
    }
    return keyed(map);
  }

  /** A mapping below this one, as fields of the same node. */
  Fields below(String key, Object value) {
    if (!(value instanceof Map)) {
      throw fault(key, "must be a mapping, not " + describe(value));
    }
    return new Fields(node, at(key), keyed(value));
  }

  /** A list, which may be left out. */
  List<?> list(String key) {
    Object value = values.getOrDefault(key, List.of());
    if (!(value instanceof List<?> list)) {
      throw fault(key, "must be a list, not " + describe(value));
    }
    return list;
  }

  String text(String key) {
    return text(key, required(key));
  }

  String text(String key, Object value) {
    if (!(value instanceof String text)) {
      throw fault(key, "must be a text, not " + describe(value));
    }
    return text;
  }

  /** A whole number within bounds, where there is one. */
  Optional<Integer> wholeNumber(String key, int least, int most) {
    if (!has(key)) {
      return Optional.empty();
    }
    Object value = values.get(key);
    if (!(value instanceof Integer number) || number < least || number > most) {
      throw fault(
          key, "must be a whole number from " + least + " to " + most + ", not " + describe(value));
    }
    return Optional.of(number);
  }

  /** A number within bounds, 0 where it is left out. */
  double number(String key, double most) {
    Object value = values.getOrDefault(key, 0);
    double number = value instanceof Number given ? given.doubleValue() : Double.NaN;
    // Written so that NaN fails it too.
    if (!(number >= 0 && number <= most)) {
      throw fault(key, "must be a number from 0 to " + most + ", not " + describe(value));
    }
    return number;
  }

  /** A node and operation, written {@code a1.work}. */
  Target target(String key, Object value) {
    String[] parts = text(key, value).split("\\.", -1);
    if (parts.length != 2) {
      throw fault(key, "must be <node>.<operation>, not " + describe(value));
    }
    return new Target(parts[0], parts[1]);
  }

  TopologyException fault(String key, String problem) {
    return new TopologyException(node, at(key), problem);
  }

  private Object required(String key) {
    if (!has(key)) {
      throw fault(key, "is missing");
    }
    return values.get(key);
  }

  private String at(String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private static Map<String, Object> keyed(Object mapping) {
    Map<String, Object> keyed = new LinkedHashMap<>();
    ((Map<?, ?>) mapping).forEach((key, value) -> keyed.put(String.valueOf(key), value));
    return keyed;
  }

  /** A value as the file's author would recognise it, cut to a line. */
  private static String describe(Object value) {
    String kind =
        switch (value) {
          case null -> "empty";
          case Map<?, ?> map -> map.isEmpty() ? "an empty mapping" : "a mapping";
          case List<?> list -> list.isEmpty() ? "an empty list" : "a list";
          default -> "'" + value + "'";
        };
    String line = kind.replaceAll("\\s+", " ");
    return line.length() > 60 ? line.substring(0, 60) + "..." : line;
  }
}
