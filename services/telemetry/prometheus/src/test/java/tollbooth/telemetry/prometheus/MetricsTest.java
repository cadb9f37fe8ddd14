package tollbooth.telemetry.prometheus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.gateway.Application;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;

/** What Prometheus would read from a gateway that really runs. */
class MetricsTest {

  private static final Map<String, String> PROPERTIES =
      Map.of(
          "management.endpoints.web.exposure.include", "prometheus",
          "management.endpoints.web.discovery.enabled", "false");

  private static StubPeer peer;
  private static RunningNode gateway;

  @BeforeAll
  static void start() throws Exception {
    PROPERTIES.forEach(System::setProperty);
    peer = StubPeer.answering(200);
    gateway =
        RunningNode.start(
            Application.class, RunningNode.settings("gateway", Topologies.REST, peer.addresses()));
    for (int i = 0; i < 3; i++) {
      gateway.get("/a1");
    }
  }

  @AfterAll
  static void stop() {
    gateway.close();
    peer.close();
    PROPERTIES.keySet().forEach(System::clearProperty);
  }

  @Test
  void countsRequestsAndCalls() throws Exception {
    assertThat(gateway.get("/actuator/prometheus").body().lines())
        .anyMatch(line -> line.matches("http_server_requests_seconds_count\\{.*/\\{route}.*} 3"))
        .anyMatch(line -> line.matches("http_client_requests_seconds_count\\{.*} 3"));
  }

  @Test
  void describesTheJvm() {
    // The metric of pauses appears with the first one.
    System.gc();

    await()
        .untilAsserted(() ->
            assertThat(gateway.get("/actuator/prometheus").body())
                .contains("jvm_memory_used_bytes", "jvm_gc_pause", "process_cpu_usage"));
  }

  @Test
  void passesNoTraceOn() {
    assertThat(peer.header("traceparent")).hasSize(3).containsOnlyNulls();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator", "/actuator/health", "/actuator/info", "/actuator/env"})
  void showsNothingElse(String path) throws Exception {
    assertThat(gateway.get(path).statusCode()).isEqualTo(404);
  }
}
