package tollbooth.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeSettingsTest {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "routes": {"a1": "a1.answer"}, "operations": {}},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }},
          "b1": {"kind": "svc-b", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  @TempDir private Path folder;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void environment() throws IOException {
    Path file = Files.writeString(folder.resolve("topology.json"), TOPOLOGY);
    environment.putAll(Map.of("NODE", "a1", "TOPOLOGY_FILE", file.toString(), "SEED", "-7"));
  }

  @Test
  void readsTheEnvironment() {
    environment.putAll(Map.of("READY_DIR", folder.toString(), "TELEMETRY", "otel-manual"));
    NodeSettings settings = NodeSettings.read(environment, "svc-a");

    assertThat(settings.name()).isEqualTo("a1");
    assertThat(settings.seed()).isEqualTo(-7);
    assertThat(settings.telemetry()).isEqualTo("otel-manual");
    assertThat(settings.readyDirectory()).contains(folder);
    assertThat(settings.node().operations()).containsOnlyKeys("answer");
    assertThat(settings.addresses().of("a1")).hasToString("http://a1.internal:8080");
    assertThat(settings.addresses().of("b1")).hasToString("http://b1.internal:9090");
    assertThat(settings.peerProxy()).isEmpty();
  }

  @Test
  void readsWhereConnectionsToPeersAreOpened() {
    environment.put("PEER_PROXY", "127.0.0.1:15001");

    assertThat(NodeSettings.read(environment, "svc-a").peerProxy())
        .contains(InetSocketAddress.createUnresolved("127.0.0.1", 15001));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "15001", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "http://x:1"})
  void rejectsAPeerProxyThatIsNoAddress(String text) {
    environment.put("PEER_PROXY", text);
    rejects("svc-a", "PEER_PROXY: must be <host>:<port>, not '" + text + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"SERVER_PORT", "GRPC_PORT"})
  void rejectsAPortThatIsNone(String variable) {
    environment.put(variable, "65536");
    rejects("svc-a", variable + ": must be a port, not '65536'");
  }

  @Test
  void needsNoReadyDirectory() {
    assertThat(NodeSettings.read(environment, "svc-a").readyDirectory()).isEmpty();
  }

  @Test
  void acceptsThatFaultsAreWatched() {
    environment.putAll(Map.of("READY_DIR", folder.toString(), "WATCH_FAULTS", "1"));

    assertThat(NodeSettings.read(environment, "svc-a").readyDirectory()).contains(folder);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "true"})
  void rejectsAnotherValueOfWatchFaults(String text) {
    environment.putAll(Map.of("READY_DIR", folder.toString(), "WATCH_FAULTS", text));
    rejects("svc-a", "WATCH_FAULTS: must be 1 or not set, not '" + text + "'");
  }

  @Test
  void rejectsFaultsWithoutAReadyDirectory() {
    environment.put("WATCH_FAULTS", "1");
    rejects("svc-a", "WATCH_FAULTS: needs READY_DIR");
  }

  @Test
  void rejectsANodeThatTheTopologyLacks() {
    environment.put("NODE", "a9");
    rejects("svc-a", "NODE: unknown node 'a9'; the topology has [gateway, a1, b1]");
  }

  @Test
  void rejectsAMissingNode() {
    environment.remove("NODE");
    rejects("svc-a", "NODE: is not set");
  }

  @Test
  void rejectsANodeOfAnotherKind() {
    rejects("gateway", "KIND: node a1 is a svc-a, but this container runs gateway");
  }

  @Test
  void rejectsASeedThatIsNoNumber() {
    environment.put("SEED", "lucky");
    rejects("svc-a", "SEED: must be a whole number, not 'lucky'");
  }

  @Test
  void rejectsAMissingTopology() {
    environment.put("TOPOLOGY_FILE", folder.resolve("none.json").toString());
    rejects("svc-a", "TOPOLOGY_FILE: cannot read");
  }

  @Test
  void rejectsATopologyThatIsNotText() throws IOException {
    Files.write(folder.resolve("topology.json"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    rejects("svc-a", "TOPOLOGY_FILE: cannot read");
  }

  @Test
  void rejectsAReadyDirectoryThatCannotBeWritten() {
    environment.put("READY_DIR", folder.resolve("none").toString());
    rejects("svc-a", "READY_DIR: cannot write to");
  }

  @Test
  void rejectsATopologyThatIsNotResolved() throws IOException {
    Files.writeString(folder.resolve("topology.json"), TOPOLOGY.replace("resolved-", ""));
    rejects("svc-a", "topology.json is not tollbooth.resolved-topology version 1");
  }

  private void rejects(String kind, String message) {
    assertThatThrownBy(() -> NodeSettings.read(environment, kind))
        .isInstanceOf(SettingsException.class)
        .hasMessageContaining(message)
        .message()
        .hasLineCount(1);
  }
}
