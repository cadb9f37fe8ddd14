package tollbooth.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import tollbooth.web.PeerAddresses;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;

class RouteControllerTest {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "operations": {}, "routes": {
            "a1": "a1.work",
            "other": "a1.answer"
          }},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "work": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  @Test
  void passesRequestAndAnswerOnAndNumbersRequests() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer.addresses())) {
      HttpResponse<String> answer = gateway.get("/a1");
      gateway.get("/other");

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{\"node\":\"stub\"}");
      assertThat(answer.headers().firstValue("content-type")).contains("application/json");
      assertThat(peer.calls()).containsExactly("work 0", "answer 1");
    }
  }

  @Test
  void keepsTheNumberThatARequestBrings() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer.addresses())) {
      gateway.get("/a1", "17");

      assertThat(peer.calls()).containsExactly("work 17");
      assertThat(gateway.get("/a1", "seventeen").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void passesOnOverridesAndAttempt() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer.addresses())) {
      gateway.getWithHeaders(
          "/a1",
          CallPath.HEADER,
          "17",
          CallPath.ATTEMPT_HEADER,
          "2",
          Overrides.LATENCY_HEADER,
          "5",
          Overrides.PROBABILITY_HEADER,
          "0.5");

      assertThat(peer.calls()).containsExactly("work 17~2");
      assertThat(peer.header(Overrides.LATENCY_HEADER)).containsExactly("5");
      assertThat(peer.header(Overrides.PROBABILITY_HEADER)).containsExactly("0.5");
    }
  }

  @Test
  void namesTheRoutesWhereARouteIsUnknown() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer.addresses())) {
      HttpResponse<String> answer = gateway.get("/a9");

      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(answer.body()).contains("no route 'a9'; available: [a1, other]");
      assertThat(peer.calls()).isEmpty();
    }
  }

  @Test
  void answers502WhereTheServiceFails() throws Exception {
    try (StubPeer peer = StubPeer.answering(500);
        RunningNode gateway = gateway(peer.addresses())) {
      HttpResponse<String> answer = gateway.get("/a1");

      assertThat(answer.statusCode()).isEqualTo(502);
      assertThat(answer.body()).contains("a1.work answered 500");
    }
  }

  @Test
  void answers502IfNoOneListens() throws Exception {
    try (RunningNode gateway = gateway(node -> URI.create("http://localhost:1"))) {
      HttpResponse<String> answer = gateway.get("/a1");

      assertThat(answer.statusCode()).isEqualTo(502);
      assertThat(answer.body()).contains("a1.work did not answer");
    }
  }

  private static RunningNode gateway(PeerAddresses addresses) throws IOException {
    return RunningNode.start(
        Application.class, RunningNode.settings("gateway", TOPOLOGY, addresses));
  }
}
