package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.web.testing.RunningNode;
import tollbooth.workload.Target;
import tollbooth.workload.Topology;

/**
 * Requests through a gateway, by REST and by gRPC, make the spans that the topology predicts: each
 * call two, however its service waits and whatever becomes of it. Nothing here tries a call again.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class GrpcTracingContract {

  private static final String TOPOLOGY =
      """
      format: tollbooth.topology
      version: 1
      entry: gateway
      nodes:
        gateway: {kind: gateway, routes: {mixed: a1.mixed, direct: b1.work, broken: a1.broken}}
        a1:
          kind: svc-a
          operations:
            mixed: {calls: [{to: [b1.work], times: 2}]}
            broken: {calls: [{to: [b1.broken]}]}
            answer: {}
        b1:
          kind: svc-b
          operations:
            work:
              latency_ms: 2
              calls:
                - {to: [b2.answer], times: 3, order: sequence}
                - {to: [b2.answer, a1.answer], times: 4, order: parallel}
            broken: {calls: [{to: [b2.broken]}]}
        b2: {kind: svc-b, operations: {answer: {latency_ms: 1}, broken: {error_probability: 1}}}
      """;

  private static final Topology PARSED = Topology.parse(TOPOLOGY);
  private static final String WORK = SpanTree.predicted(PARSED, new Target("b1", "work"));

  /** The spans of b1.work: its own, and two for each of seven calls. */
  protected static final int SPANS_OF_WORK = 15;

  private final Map<String, URI> addresses = new ConcurrentHashMap<>();
  private final List<RunningNode> running = new ArrayList<>();
  private RunningNode gateway;
  private GrpcCaller client;

  /** Beans for every node, by name, that keep its spans here. */
  protected abstract Map<String, Object> beans();

  /** What the variant is set to, as system properties. */
  protected abstract Map<String, String> properties();

  /** The spans that have finished. */
  protected abstract List<RecordedSpan> recorded();

  /** Forgets the spans that have finished. */
  protected abstract void forget();

  /** A client of b1, whose first operation makes {@link #SPANS_OF_WORK} spans. */
  protected final GrpcCaller client() {
    return client;
  }

  /** Waits for so many spans, and no more: a server's may end after its client has the answer. */
  protected final List<RecordedSpan> finished(int count) {
    await().until(() -> recorded().size() >= count);
    assertThat(recorded()).hasSize(count);
    return recorded();
  }

  @BeforeAll
  final void start() {
    try (SystemProperties settings = SystemProperties.set(properties())) {
      gateway = start(tollbooth.gateway.Application.class, "gateway");
      RunningNode a1 = start(tollbooth.svca.Application.class, "a1");
      addresses.put("a1", a1.address());
      for (String name : List.of("b1", "b2")) {
        RunningNode node = start(tollbooth.svcb.Application.class, name);
        addresses.put(name, GrpcCaller.address(node));
      }
    }
    client = GrpcCaller.of(running.get(2));
  }

  private RunningNode start(Class<?> program, String name) {
    RunningNode node =
        RunningNode.start(program, RunningNode.settings(name, TOPOLOGY, addresses::get), beans());
    running.add(node);
    return node;
  }

  @AfterAll
  final void stop() {
    client.close();
    running.forEach(RunningNode::close);
  }

  @BeforeEach
  final void startWithNoSpans() {
    forget();
  }

  @Test
  void tracesThroughGatewayRestAndGrpc() throws Exception {
    assertThat(gateway.get("/mixed").statusCode()).isEqualTo(200);

    String service = SpanTree.predicted(PARSED, new Target("a1", "mixed"));
    assertThat(SpanTree.recorded(finished(3 + 2 * (SPANS_OF_WORK + 1))))
        .isEqualTo(SpanTree.throughGateway(service));
  }

  @Test
  void tracesFromTheGatewayStraightToGrpc() throws Exception {
    assertThat(gateway.get("/direct").body())
        .isEqualTo("{\"node\":\"b1\",\"operation\":\"work\",\"calls\":7}");

    assertThat(SpanTree.recorded(finished(2 + SPANS_OF_WORK)))
        .isEqualTo(SpanTree.throughGateway(WORK));
  }

  @Test
  void tracesWhatAClientAsksByGrpc() {
    client.ask(MockRequest.getDefaultInstance());

    assertThat(SpanTree.recorded(finished(SPANS_OF_WORK))).isEqualTo(WORK);
  }

  @Test
  void keepsRequestsApartThatAreUnderWayTogether() {
    int requests = 20;
    for (int i = 0; i < requests; i++) {
      client.starting().mock(MockRequest.newBuilder().setRequestCounter(i).build());
    }

    assertThat(SpanTree.recordedByTrace(finished(requests * SPANS_OF_WORK)))
        .isEqualTo(Collections.nCopies(requests, WORK));
  }

  @Test
  void tracesEachCallOnceWhereTheLastOneFails() throws Exception {
    assertThat(gateway.get("/broken").statusCode()).isEqualTo(502);

    String service = SpanTree.predicted(PARSED, new Target("a1", "broken"));
    assertThat(SpanTree.recorded(finished(7))).isEqualTo(SpanTree.throughGateway(service));
  }
}
