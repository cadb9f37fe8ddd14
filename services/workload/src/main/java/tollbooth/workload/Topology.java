package tollbooth.workload;

import java.util.Collections;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A call graph over operations of nodes, as the lab resolved it. The lab validates topologies, so
 * nothing is validated here but the format and its version.
 *
 * @param nodes every node by name, in the topology's order
 */
public record Topology(Map<String, Node> nodes) {

  private static final String FORMAT = "tollbooth.resolved-topology";
  private static final int VERSION = 1;

  /** Immutable; keeps the topology's order. */
  public Topology {
    nodes = Collections.unmodifiableMap(nodes);
  }

  /**
   * Reads a resolved topology (docs/reference/formats.md).
   *
   * @throws IllegalArgumentException if it is of another format or version, or cannot be read
   */
  public static Topology parse(String json) {
    JsonMapper mapper = JsonMapper.shared();
    try {
      JsonNode file = mapper.readTree(json);
      if (!FORMAT.equals(file.path("format").asString(""))
          || file.path("version").asInt(0) != VERSION) {
        throw new IllegalArgumentException("is not " + FORMAT + " version " + VERSION);
      }
      return new Topology(mapper.treeToValue(file.required("nodes"), new TypeReference<>() {}));
    } catch (JacksonException unreadable) {
      String reason = unreadable.getOriginalMessage().replaceAll("\\s+", " ");
      throw new IllegalArgumentException(
          "is not " + FORMAT + " version " + VERSION + ": " + reason);
    }
  }
}
