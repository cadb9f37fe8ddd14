package tollbooth.svcb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.grpc.testing.StubGrpcPeer;
import tollbooth.web.NodeFault;
import tollbooth.web.PeerAddresses;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;

class MockServiceTest {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "s1": {"kind": "svc-b", "routes": {}, "operations": {
            "work": {"latency_ns": 0, "error_probability": 0,
              "stages": [["s2.left"], ["s2.right"], ["s2.left"], ["s2.right"], ["s2.left"]]},
            "together": {"latency_ns": 0, "error_probability": 0,
              "stages": [["s2.left", "s2.right", "s2.left", "s2.right"], ["s2.last"]]},
            "slow": {"latency_ns": 80000000, "error_probability": 0, "stages": [["s2.left"]]},
            "broken": {"latency_ns": 0, "error_probability": 1.0, "stages": [["s2.left"]]},
            "rest": {"latency_ns": 0, "error_probability": 0, "stages": [["a2.left", "a2.right"]]},
            "alone": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }},
          "s2": {"kind": "svc-b", "routes": {}, "operations": {
            "left": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "right": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "last": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }},
          "a2": {"kind": "svc-a", "routes": {}, "operations": {
            "left": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "right": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  private static final String OPERATION = "tollbooth-operation";

  @Test
  void makesItsCallsInTurn() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      MockResponse answer = client.call(request(17));

      assertThat(answer)
          .isEqualTo(
              MockResponse.newBuilder().setNode("s1").setOperation("work").setCalls(5).build());
      assertThat(peer.calls())
          .containsExactly("left 17.0", "right 17.1", "left 17.2", "right 17.3", "left 17.4");
    }
  }

  @Test
  void makesParallelCallsAtTheSameTimeAndWaitsForAll() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answeringTogether(4);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      client.starting().mock(config(2));

      // The fifth goes out once all four have been answered.
      await().until(() -> peer.calls().size() == 5);
      assertThat(peer.calls().subList(0, 4))
          .containsExactlyInAnyOrder("left 0.0", "right 0.1", "left 0.2", "right 0.3");
      assertThat(peer.calls().getLast()).isEqualTo("last 0.4");
    }
  }

  @Test
  void waitsItsLatencyBeforeItCalls() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      long start = System.nanoTime();
      client.call(config(3));

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(80));
      assertThat(peer.calls()).containsExactly("left 0.0");
    }
  }

  @Test
  void letsTheRequestDecideAndPassesThatOn() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      MockRequest slowAndWell =
          MockRequest.newBuilder().setLatency(30).setErrorProbability(0).setConfig(4).build();
      long start = System.nanoTime();
      client.call(slowAndWell);

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(30));
      assertThat(peer.messages())
          .containsExactly(MockRequest.newBuilder().setLatency(30).setErrorProbability(0).build());
      rejects(client, MockRequest.newBuilder().setErrorProbability(1).build(), Status.INTERNAL);
    }
  }

  @Test
  void letsAFaultDecideOverTheRequest() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      NodeFault fault = node.bean(NodeFault.class);
      fault.become(new Overrides(Optional.of(30), Optional.of(1.0)));
      long start = System.nanoTime();
      rejects(client, probability(0), Status.INTERNAL);

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(30));
      fault.become(Overrides.NONE);
      assertThat(client.call(probability(0)).getOperation()).isEqualTo("work");
    }
  }

  @Test
  void takesTheOperationFromItsCallerOrByItsIndexFromOne() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      assertThat(client.call(request(0)).getOperation()).isEqualTo("work");
      assertThat(client.call(config(1)).getOperation()).isEqualTo("work");
      assertThat(client.call(config(6)).getOperation()).isEqualTo("alone");
      assertThat(client.call(config(1), OPERATION, "alone").getOperation()).isEqualTo("alone");
    }
  }

  @Test
  void rejectsUnknownAndInvalidValues() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      rejects(client, config(7), Status.NOT_FOUND);
      rejects(client, config(-1), Status.NOT_FOUND);
      rejects(client, config(0), Status.NOT_FOUND, OPERATION, "wrok");
      rejects(client, config(0), Status.INVALID_ARGUMENT, CallPath.HEADER, "seventeen");
      rejects(client, config(0), Status.INVALID_ARGUMENT, CallPath.ATTEMPT_HEADER, "twice");
      rejects(client, probability(1.5f), Status.INVALID_ARGUMENT);
      rejects(client, probability(-0.1f), Status.INVALID_ARGUMENT);
      rejects(client, probability(Float.NaN), Status.INVALID_ARGUMENT);
      rejects(client, MockRequest.newBuilder().setLatency(60_001).build(), Status.INVALID_ARGUMENT);
      assertThat(peer.calls()).isEmpty();
    }
  }

  @Test
  void namesThePathAndTheAttemptInItsCalls() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      client.call(request(-1));
      client.call(request(9), CallPath.HEADER, "17.3", CallPath.ATTEMPT_HEADER, "2");

      assertThat(peer.calls().getFirst()).isEqualTo("left 4294967295.0");
      assertThat(peer.calls().get(5)).isEqualTo("left 17.3~2.0");
    }
  }

  @Test
  void failsWhereItIsDrawnToAndThenMakesNoCall() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      rejects(client, config(4), Status.INTERNAL);
      assertThat(peer.calls()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"INTERNAL", "UNAVAILABLE", "NOT_FOUND"})
  void stopsAtTheFirstPeerThatFailsAndCallsItOnce(Status.Code code) throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(code.toStatus());
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      rejects(client, config(1), Status.UNAVAILABLE);
      assertThat(peer.calls()).containsExactly("left 0.0");
    }
  }

  @Test
  void waitsForAllParallelPeersAlsoWhereOneFails() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.INTERNAL);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      rejects(client, config(2), Status.UNAVAILABLE);
      assertThat(peer.calls()).hasSize(4);
    }
  }

  @Test
  void callsRestPeersToo() throws Exception {
    try (StubPeer peer = StubPeer.answeringTogether(2);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      assertThat(client.call(config(5)).getCalls()).isEqualTo(2);
      assertThat(peer.calls()).containsExactlyInAnyOrder("left 0.0", "right 0.1");
    }
  }

  @Test
  void answersUnavailableWhereARestPeerFails() throws Exception {
    try (StubPeer peer = StubPeer.answering(500);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      rejects(client, config(5), Status.UNAVAILABLE);
    }
  }

  @Test
  void meetsTheSameFaultsAgainAndOthersAtTheSecondAttempt() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      List<Integer> once = failing(client, "1");

      assertThat(once).hasSizeBetween(20, 60);
      assertThat(failing(client, "1")).isEqualTo(once);
      assertThat(failing(client, "2")).hasSizeBetween(20, 60).isNotEqualTo(once);
    }
  }

  /** Which of 200 requests fail at 0.2: about 40, with a standard deviation of 5.7. */
  private static List<Integer> failing(GrpcCaller client, String attempt) {
    return IntStream.range(0, 200).filter(i -> !succeeds(client, i, attempt)).boxed().toList();
  }

  private static boolean succeeds(GrpcCaller client, int counter, String attempt) {
    MockRequest request =
        MockRequest.newBuilder()
            .setRequestCounter(counter)
            .setErrorProbability(0.2f)
            .setConfig(6)
            .build();
    try {
      client.call(request, CallPath.ATTEMPT_HEADER, attempt);
      return true;
    } catch (StatusRuntimeException failed) {
      assertThat(failed.getStatus().getCode()).isEqualTo(Status.Code.INTERNAL);
      return false;
    }
  }

  private static void rejects(
      GrpcCaller client, MockRequest request, Status status, String... metadata) {
    assertThatThrownBy(() -> client.call(request, metadata))
        .isInstanceOf(StatusRuntimeException.class)
        .extracting(failure -> ((StatusRuntimeException) failure).getStatus().getCode())
        .isEqualTo(status.getCode());
  }

  private static MockRequest request(int counter) {
    return MockRequest.newBuilder().setRequestCounter(counter).build();
  }

  private static MockRequest config(int index) {
    return MockRequest.newBuilder().setConfig(index).build();
  }

  private static MockRequest probability(float probability) {
    return MockRequest.newBuilder().setErrorProbability(probability).build();
  }

  private static RunningNode node(PeerAddresses addresses) {
    return RunningNode.start(Application.class, RunningNode.settings("s1", TOPOLOGY, addresses));
  }
}
