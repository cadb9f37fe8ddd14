package tollbooth.svca;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.web.NodeFault;
import tollbooth.web.NodeSettings;
import tollbooth.web.PeerAddresses;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;
import tollbooth.workload.Topology;

class OperationControllerTest {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "routes": {"a1": "a1.work"}, "operations": {}},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "work": {"latency_ns": 0, "error_probability": 0,
              "stages": [["a2.left"], ["a2.right"], ["a2.left"], ["a2.right"], ["a2.left"]]},
            "together": {"latency_ns": 0, "error_probability": 0,
              "stages": [["a2.left", "a2.right", "a2.left", "a2.right"], ["a2.last"]]},
            "slow": {"latency_ns": 80000000, "error_probability": 0, "stages": []},
            "broken": {"latency_ns": 0, "error_probability": 1.0, "stages": [["a2.left"]]}
          }},
          "a2": {"kind": "svc-a", "routes": {}, "operations": {
            "left": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "right": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "last": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  @Test
  void makesItsCallsInTurn() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      HttpResponse<String> answer = node.get("/op/work", "17");

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{\"node\":\"a1\",\"operation\":\"work\",\"calls\":5}");
      assertThat(peer.calls())
          .containsExactly("left 17.0", "right 17.1", "left 17.2", "right 17.3", "left 17.4");
    }
  }

  @Test
  void makesParallelCallsAtTheSameTimeAndWaitsForAll() throws Exception {
    try (StubPeer peer = StubPeer.answeringTogether(4);
        RunningNode node = node(peer)) {
      HttpResponse<String> answer = node.get("/op/together", "17");

      assertThat(answer.body()).contains("\"calls\":5");
      assertThat(peer.calls().subList(0, 4))
          .containsExactlyInAnyOrder("left 17.0", "right 17.1", "left 17.2", "right 17.3");
      assertThat(peer.calls().subList(4, 5)).containsExactly("last 17.4");
    }
  }

  @Test
  void letsAFaultDecideOverTheRequest() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      NodeFault fault = node.bean(NodeFault.class);
      fault.become(new Overrides(Optional.of(30), Optional.of(1.0)));
      long start = System.nanoTime();

      assertThat(get(node, "/op/work", Overrides.PROBABILITY_HEADER, "0")).isEqualTo(500);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(30));
      fault.become(Overrides.NONE);
      assertThat(get(node, "/op/work", Overrides.PROBABILITY_HEADER, "0")).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 500, 502, 503})
  void stopsAtTheFirstPeerThatFailsAndCallsItOnce(int status) throws Exception {
    try (StubPeer peer = StubPeer.answering(status);
        RunningNode node = node(peer)) {
      HttpResponse<String> answer = node.get("/op/work", "17");

      assertThat(answer.statusCode()).isEqualTo(502);
      assertThat(answer.body()).contains("a2.left answered " + status);
      assertThat(peer.calls()).containsExactly("left 17.0");
    }
  }

  @Test
  void answers502WhereAParallelPeerFails() throws Exception {
    try (StubPeer peer = StubPeer.answering(500);
        RunningNode node = node(peer)) {
      assertThat(node.get("/op/together", "17").statusCode()).isEqualTo(502);
      assertThat(peer.calls()).hasSize(4);
    }
  }

  @Test
  void failsWhereItIsDrawnToAndThenMakesNoCall() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      assertThat(node.get("/op/broken", "17").statusCode()).isEqualTo(500);
      assertThat(peer.calls()).isEmpty();
    }
  }

  @Test
  void waitsItsLatency() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      long start = System.nanoTime();
      node.get("/op/slow", "17");

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(80));
    }
  }

  @Test
  void letsTheRequestDecideAndPassesThatOn() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      assertThat(get(node, "/op/work", Overrides.PROBABILITY_HEADER, "1")).isEqualTo(500);
      assertThat(get(node, "/op/broken", Overrides.PROBABILITY_HEADER, "0")).isEqualTo(200);
      assertThat(get(node, "/op/broken", Overrides.PROBABILITY_HEADER, "1.5")).isEqualTo(400);
      assertThat(get(node, "/op/work", Overrides.LATENCY_HEADER, "soon")).isEqualTo(400);

      assertThat(peer.calls()).containsExactly("left 17.0");
      assertThat(peer.header(Overrides.PROBABILITY_HEADER)).containsExactly("0.0");
    }
  }

  @Test
  void namesTheAttemptInItsCalls() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      assertThat(get(node, "/op/work", CallPath.ATTEMPT_HEADER, "2")).isEqualTo(200);
      assertThat(get(node, "/op/work", CallPath.ATTEMPT_HEADER, "twice")).isEqualTo(400);

      assertThat(peer.calls()).hasSize(5).first().isEqualTo("left 17~2.0");
    }
  }

  @Test
  void opensConnectionsAtTheProxyAndKeepsThePeersAuthority() throws Exception {
    try (StubPeer proxy = StubPeer.answering(200);
        RunningNode node = RunningNode.start(Application.class, behind(proxy))) {
      assertThat(node.get("/op/work", "17").statusCode()).isEqualTo(200);

      assertThat(proxy.calls()).hasSize(5);
      assertThat(proxy.header("Host")).containsOnly("a2.internal:8080");
    }
  }

  @Test
  void rejectsUnknownAndInvalidValues() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode node = node(peer)) {
      HttpResponse<String> answer = node.get("/op/wrok", "17");

      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(answer.body()).contains("no operation 'wrok'").contains("work");
      assertThat(node.get("/op/work").statusCode()).isEqualTo(400);
      assertThat(node.get("/op/work", "x").statusCode()).isEqualTo(400);
    }
  }

  private static RunningNode node(StubPeer peer) throws IOException {
    return RunningNode.start(
        Application.class, RunningNode.settings("a1", TOPOLOGY, peer.addresses()));
  }

  private static NodeSettings behind(StubPeer proxy) {
    URI address = proxy.addresses().of("any");
    Topology topology = Topology.parse(TOPOLOGY);
    return new NodeSettings(
        "a1",
        topology,
        1,
        "baseline",
        Optional.empty(),
        PeerAddresses.byHostName(topology),
        Optional.of(InetSocketAddress.createUnresolved(address.getHost(), address.getPort())));
  }

  private static int get(RunningNode node, String path, String header, String value)
      throws Exception {
    return node.getWithHeaders(path, CallPath.HEADER, "17", header, value).statusCode();
  }
}
