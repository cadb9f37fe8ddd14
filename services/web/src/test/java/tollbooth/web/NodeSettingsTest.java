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
import tollbooth.workload.TopologyException;

class NodeSettingsTest {

  private static final String TOPOLOGY =
      """
      format: tollbooth.topology
      version: 1
      entry: gateway
      nodes:
        gateway: {kind: gateway, routes: {a1: a1.answer}}
        a1: {kind: svc-a, operations: {answer: {}}}
        b1: {kind: svc-b, operations: {answer: {}}}
      """;

  @TempDir private Path folder;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void environment() throws IOException {
    Path file = Files.writeString(folder.resolve("topology.yaml"), TOPOLOGY);
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
  void refusesAPeerProxyThatIsNoAddress(String text) {
    environment.put("PEER_PROXY", text);
    refuses("svc-a", "PEER_PROXY: must be <host>:<port>, not '" + text + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"SERVER_PORT", "GRPC_PORT"})
  void refusesAPortThatIsNone(String variable) {
    environment.put(variable, "65536");
    refuses("svc-a", variable + ": must be a port, not '65536'");
  }

  @Test
  void needsNoReadyDirectory() {
    assertThat(NodeSettings.read(environment, "svc-a").readyDirectory()).isEmpty();
  }

  @Test
  void refusesANodeThatTheTopologyLacks() {
    environment.put("NODE", "a9");
    refuses("svc-a", "NODE: the topology has no node 'a9', only [gateway, a1, b1]");
  }

  @Test
  void refusesAMissingNode() {
    environment.remove("NODE");
    refuses("svc-a", "NODE: is not set");
  }

  @Test
  void refusesANodeOfAnotherKind() {
    refuses("gateway", "a1: kind: is svc-a in the topology, but this container runs gateway");
  }

  @Test
  void refusesASeedThatIsNoNumber() {
    environment.put("SEED", "lucky");
    refuses("svc-a", "SEED: must be a whole number, not 'lucky'");
  }

  @Test
  void refusesAMissingTopology() {
    environment.put("TOPOLOGY_FILE", folder.resolve("none.yaml").toString());
    refuses("svc-a", "TOPOLOGY_FILE: cannot read");
  }

  @Test
  void refusesATopologyThatIsNotText() throws IOException {
    Files.write(folder.resolve("topology.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    refuses("svc-a", "is not UTF-8 text");
  }

  @Test
  void refusesAReadyDirectoryThatCannotBeWritten() {
    environment.put("READY_DIR", folder.resolve("none").toString());
    refuses("svc-a", "READY_DIR: cannot write to");
  }

  @Test
  void passesOnWhatIsWrongWithTheTopology() throws IOException {
    Files.writeString(folder.resolve("topology.yaml"), TOPOLOGY.replace("svc-a", "svc-z"));
    assertThatThrownBy(() -> NodeSettings.read(environment, "svc-a"))
        .isInstanceOf(TopologyException.class)
        .hasMessageContaining("a1: kind");
  }

  private void refuses(String kind, String message) {
    assertThatThrownBy(() -> NodeSettings.read(environment, kind))
        .isInstanceOf(SettingsException.class)
        .hasMessageContaining(message)
        .message()
        .hasLineCount(1);
  }
}
