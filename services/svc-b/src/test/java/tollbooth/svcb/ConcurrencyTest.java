package tollbooth.svcb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.grpc.testing.StubGrpcPeer;
import tollbooth.web.NodeFault;
import tollbooth.web.PeerAddresses;
import tollbooth.web.testing.RunningNode;

/** Calls in progress hold no thread, and end when the caller cancels. */
class ConcurrencyTest {

  private static final int CALLS = 1000;

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "s1": {"kind": "svc-b", "routes": {}, "operations": {
            "alone": {"latency_ns": 100000000, "error_probability": 0, "stages": []},
            "work": {"latency_ns": 0, "error_probability": 0,
              "stages": [["s2.answer", "s2.answer"]]},
            "slow": {"latency_ns": 60000000000, "error_probability": 0, "stages": [["s2.answer"]]}
          }},
          "s2": {"kind": "svc-b", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  @Test
  void handlesAThousandCallsAtATimeOnFewThreads() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.hanging();
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      // The channel connects, and both sides start their threads.
      client.call(MockRequest.getDefaultInstance());
      int before = threads();

      long start = System.nanoTime();
      List<ListenableFuture<MockResponse>> answers =
          IntStream.range(0, CALLS)
              .mapToObj(i -> client.starting().mock(MockRequest.getDefaultInstance()))
              .toList();
      int during = threads();
      Futures.allAsList(answers).get(20, TimeUnit.SECONDS);

      // One after the other they would take 100 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
      assertThat(during - before).isLessThan(CALLS / 20);
    }
  }

  @Test
  void givesUpItsCallsWhenItsClientDoes() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.hanging();
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      ListenableFuture<MockResponse> answer = client.starting().mock(config(2));
      await().until(() -> peer.messages().size() == 2);
      answer.cancel(true);

      await().until(() -> peer.cancelled() == 2);
      assertThat(givenUp(node)).isZero();
    }
  }

  @Test
  void givesUpItsWaitWhenItsClientDoes() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.hanging();
        RunningNode node = node(peer.addresses());
        GrpcCaller client = GrpcCaller.of(node)) {
      Performer performer = node.bean(Performer.class);
      ListenableFuture<MockResponse> answer = client.starting().mock(config(3));
      await().until(() -> performer.waiting() == 1);
      answer.cancel(true);

      await().until(() -> performer.waiting() == 0);
      await().until(() -> givenUp(node) == 1);
      assertThat(peer.calls()).isEmpty();
    }
  }

  private static long givenUp(RunningNode node) {
    return (long) node.bean(NodeFault.class).counted().get("given_up");
  }

  private static int threads() {
    return Thread.getAllStackTraces().size();
  }

  private static MockRequest config(int index) {
    return MockRequest.newBuilder().setConfig(index).build();
  }

  private static RunningNode node(PeerAddresses addresses) {
    return RunningNode.start(Application.class, RunningNode.settings("s1", TOPOLOGY, addresses));
  }
}
