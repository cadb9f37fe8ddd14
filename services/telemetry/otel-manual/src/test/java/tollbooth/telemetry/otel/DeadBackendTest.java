package tollbooth.telemetry.otel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tollbooth.svca.Application;
import tollbooth.web.PeerAddresses;
import tollbooth.web.testing.RunningNode;

/** The SDK as its variables configure it, with a backend that takes nothing. */
class DeadBackendTest {

  private static final String TOPOLOGY =
      """
      format: tollbooth.topology
      version: 1
      entry: gateway
      nodes:
        gateway: {kind: gateway, routes: {a1: a1.answer}}
        a1: {kind: svc-a, operations: {answer: {}}}
      """;

  /** More spans than the batch processor's queue holds (2048), so that some must be dropped. */
  private static final int REQUESTS = 2_500;

  /** Far above any request here, below the exporter's timeout. */
  private static final Duration BOUND = Duration.ofSeconds(2);

  private final Map<String, String> properties =
      Map.of(
          "otel.metrics.exporter", "none",
          "otel.logs.exporter", "none",
          "otel.exporter.otlp.protocol", "grpc",
          "otel.exporter.otlp.timeout", "4000",
          // One batch, so that what is left takes one timeout at the end, not five.
          "otel.bsp.max.export.batch.size", "2048",
          "otel.exporter.otlp.compression", "gzip");

  @AfterEach
  void forgetProperties() {
    properties.keySet().forEach(System::clearProperty);
    System.clearProperty("otel.exporter.otlp.endpoint");
  }

  @Test
  void neitherFailsNorDelaysRequestsWhereTheBackendIsAbsent() throws Exception {
    assertRequestsUnharmed("http://localhost:1");
  }

  @Test
  void neitherFailsNorDelaysRequestsWhereTheBackendNeverAnswers() throws Exception {
    // Connections wait in the backlog; nobody accepts them.
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertRequestsUnharmed("http://localhost:" + silent.getLocalPort());
    }
  }

  private void assertRequestsUnharmed(String endpoint) throws Exception {
    properties.forEach(System::setProperty);
    System.setProperty("otel.exporter.otlp.endpoint", endpoint);
    try (RunningNode node =
        RunningNode.start(
            Application.class,
            RunningNode.settings("a1", TOPOLOGY, PeerAddresses.BY_CONTAINER_NAME))) {
      for (int i = 0; i < REQUESTS; i++) {
        long start = System.nanoTime();
        int status = node.get("/op/answer", Integer.toString(i)).statusCode();

        assertThat(status).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BOUND);
      }
    }
  }
}
