package tollbooth.web;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tollbooth.workload.Node;
import tollbooth.workload.Topology;

/**
 * The settings of this process. Read before Spring starts, so that an error is one line instead of
 * a stack trace.
 *
 * @param name the node's name
 * @param topology the complete call graph
 * @param seed of every draw
 * @param telemetry the variant's name; only written to the ready file
 * @param readyDirectory where to write the ready file; empty: write none
 * @param addresses where peers listen
 * @param peerProxy where to open connections to peers instead; empty: at the peer itself
 */
public record NodeSettings(
    String name,
    Topology topology,
    long seed,
    String telemetry,
    Optional<Path> readyDirectory,
    PeerAddresses addresses,
    Optional<InetSocketAddress> peerProxy) {

  private static final String DEFAULT_TOPOLOGY_FILE = "/etc/tollbooth/topology.json";
  private static final List<String> PORTS = List.of("SERVER_PORT", "GRPC_PORT");
  private static final Pattern ADDRESS = Pattern.compile("([a-z0-9.-]+):([0-9]{1,5})");
  private static final int HIGHEST_PORT = 65_535;

  /**
   * Reads the settings of a container.
   *
   * @param environment the process's environment variables
   * @param kind the kind of this program; the node must have the same kind
   * @throws SettingsException if a setting is invalid
   */
  public static NodeSettings read(Map<String, String> environment, String kind) {
    Path file = Path.of(environment.getOrDefault("TOPOLOGY_FILE", DEFAULT_TOPOLOGY_FILE));
    Topology topology = topology(file);
    PORTS.forEach(name -> checkPort(name, environment.get(name)));
    checkWatchFaults(environment);
    return new NodeSettings(
        node(environment.get("NODE"), kind, topology),
        topology,
        seed(environment.getOrDefault("SEED", "1")),
        environment.getOrDefault("TELEMETRY", "baseline"),
        Optional.ofNullable(environment.get("READY_DIR")).map(NodeSettings::writable),
        PeerAddresses.byHostName(topology),
        Optional.ofNullable(environment.get("PEER_PROXY")).map(NodeSettings::address));
  }

  /** This node's part of the topology. */
  public Node node() {
    return topology.nodes().get(name);
  }

  private static Topology topology(Path file) {
    try {
      return Topology.parse(Files.readString(file));
    } catch (IOException unreadable) {
      throw new SettingsException(
          "TOPOLOGY_FILE: cannot read " + file + ": mount a resolved topology, readable by all");
    } catch (IllegalArgumentException otherFormat) {
      throw new SettingsException("TOPOLOGY_FILE: " + file + " " + otherFormat.getMessage());
    }
  }

  private static String node(String name, String kind, Topology topology) {
    if (name == null) {
      throw new SettingsException(
          "NODE: is not set; the topology has " + topology.nodes().keySet());
    }
    Node node = topology.nodes().get(name);
    if (node == null) {
      throw new SettingsException(
          "NODE: unknown node '" + name + "'; the topology has " + topology.nodes().keySet());
    }
    if (!node.kind().equals(kind)) {
      throw new SettingsException(
          "KIND: node " + name + " is a " + node.kind() + ", but this container runs " + kind);
    }
    return name;
  }

  private static long seed(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException notANumber) {
      throw new SettingsException("SEED: must be a whole number, not '" + text + "'");
    }
  }

  /** Spring reads ports itself, but reports an invalid one with a stack trace. */
  private static void checkPort(String name, String text) {
    if (text != null && (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) > HIGHEST_PORT)) {
      throw new SettingsException(name + ": must be a port, not '" + text + "'");
    }
  }

  /** Spring creates the watcher by itself, but reports a missing folder with a stack trace. */
  private static void checkWatchFaults(Map<String, String> environment) {
    String text = environment.get("WATCH_FAULTS");
    if (text == null) {
      return;
    }
    if (!text.equals("1")) {
      throw new SettingsException("WATCH_FAULTS: must be 1 or not set, not '" + text + "'");
    }
    if (!environment.containsKey("READY_DIR")) {
      throw new SettingsException("WATCH_FAULTS: needs READY_DIR");
    }
  }

  private static InetSocketAddress address(String text) {
    Matcher parts = ADDRESS.matcher(text);
    if (!parts.matches() || Integer.parseInt(parts.group(2)) > HIGHEST_PORT) {
      throw new SettingsException("PEER_PROXY: must be <host>:<port>, not '" + text + "'");
    }
    return InetSocketAddress.createUnresolved(parts.group(1), Integer.parseInt(parts.group(2)));
  }

  private static Path writable(String directory) {
    Path path = Path.of(directory);
    if (!Files.isWritable(path)) {
      throw new SettingsException(
          "READY_DIR: cannot write to " + path + ": user 65532 needs write permission");
    }
    return path;
  }
}
