package tollbooth.telemetry.prometheus.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.grpc.testing.StubGrpcPeer;
import tollbooth.svcb.Application;
import tollbooth.web.testing.RunningNode;

/** What Prometheus would read from a gRPC service that really runs. */
class GrpcMetricsTest {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "s1": {"kind": "svc-b", "routes": {}, "operations": {
            "work": {"latency_ns": 0, "error_probability": 0,
              "stages": [["s2.answer"], ["s2.answer"]]}
          }},
          "s2": {"kind": "svc-b", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  private static final Map<String, String> PROPERTIES =
      Map.of(
          "management.endpoints.web.exposure.include", "prometheus",
          "spring.main.web-application-type", "servlet");

  @BeforeEach
  void set() {
    PROPERTIES.forEach(System::setProperty);
  }

  @AfterEach
  void unset() {
    PROPERTIES.keySet().forEach(System::clearProperty);
  }

  @Test
  void countsRequestsAndCalls() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK);
        RunningNode node =
            RunningNode.start(
                Application.class, RunningNode.settings("s1", TOPOLOGY, peer.addresses()));
        GrpcCaller client = GrpcCaller.of(node)) {
      for (int i = 0; i < 3; i++) {
        client.call(MockRequest.getDefaultInstance());
      }

      assertThat(node.get("/actuator/prometheus").body().lines())
          .anyMatch(line -> line.matches("grpc_server_seconds_count\\{.*Mock.*} 3"))
          .anyMatch(line -> line.matches("grpc_client_seconds_count\\{.*Mock.*} 6"));
    }
  }
}
