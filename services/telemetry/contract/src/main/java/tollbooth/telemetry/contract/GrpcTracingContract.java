package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.web.testing.RunningNode;
import tollbooth.workload.Target;
import tollbooth.workload.Topology;

/**
 * Requests through a gateway, by REST and by gRPC, make the spans that the topology predicts: two
 * for each call, also if it fails. Nothing here retries a call.
 */
public abstract class GrpcTracingContract extends SpansContract {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "operations": {}, "routes": {
            "mixed": "a1.mixed",
            "direct": "b1.work",
            "broken": "a1.broken"
          }},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "mixed": {"latency_ns": 0, "error_probability": 0,
              "stages": [["b1.work"], ["b1.work"]]},
            "broken": {"latency_ns": 0, "error_probability": 0, "stages": [["b1.broken"]]},
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }},
          "b1": {"kind": "svc-b", "routes": {}, "operations": {
            "work": {"latency_ns": 2000000, "error_probability": 0,
              "stages": [["b2.answer"], ["b2.answer"], ["b2.answer"], ["b2.answer", "a1.answer", "b2.answer", "a1.answer"]]},
            "broken": {"latency_ns": 0, "error_probability": 0, "stages": [["b2.broken"]]}
          }},
          "b2": {"kind": "svc-b", "routes": {}, "operations": {
            "answer": {"latency_ns": 1000000, "error_probability": 0, "stages": []},
            "broken": {"latency_ns": 0, "error_probability": 1.0, "stages": []}
          }}
        }
      }
      """;

  private static final Topology PARSED = Topology.parse(TOPOLOGY);
  private static final String WORK = SpanTree.predicted(PARSED, new Target("b1", "work"));

  /** The spans of b1.work: its own, and two for each of seven calls. */
  protected static final int SPANS_OF_WORK = 15;

  private RunningNode gateway;
  private GrpcCaller client;

  /** A client of b1, whose first operation makes {@link #SPANS_OF_WORK} spans. */
  protected final GrpcCaller client() {
    return client;
  }

  @Override
  final void startNodes() {
    gateway = start(tollbooth.gateway.Application.class, TOPOLOGY, "gateway", RunningNode::address);
    start(tollbooth.svca.Application.class, TOPOLOGY, "a1", RunningNode::address);
    client = GrpcCaller.of(startGrpc("b1"));
    startGrpc("b2");
  }

  private RunningNode startGrpc(String name) {
    return start(tollbooth.svcb.Application.class, TOPOLOGY, name, GrpcCaller::address);
  }

  @AfterAll
  final void closeClient() {
    client.close();
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
  void tracesRequestsOfAGrpcClient() {
    client.call(MockRequest.getDefaultInstance());

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
