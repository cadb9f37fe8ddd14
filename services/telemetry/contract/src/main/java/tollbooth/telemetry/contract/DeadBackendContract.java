package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import tollbooth.svca.Application;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.Topologies;

/** A backend that accepts nothing neither fails nor delays requests. */
public abstract class DeadBackendContract {

  /** More spans than the queue of OpenTelemetry's batch processor (2048): some must be dropped. */
  private static final int REQUESTS = 2_500;

  /** Far above any request's time, below an exporter's timeout. */
  private static final Duration BOUND = Duration.ofSeconds(2);

  /**
   * The settings that make the variant send to a backend, as system properties.
   *
   * @param backend a URL without a path
   */
  protected abstract Map<String, String> properties(String backend);

  @Test
  void neitherFailsNorDelaysRequestsWhereTheBackendIsAbsent() throws Exception {
    assertRequestsUnharmed("http://localhost:1");
  }

  @Test
  void neitherFailsNorDelaysRequestsWhereTheBackendNeverAnswers() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      // The first connection is held; others stay in the backlog.
      FutureTask<Socket> first = new FutureTask<>(silent::accept);
      Thread.ofVirtual().start(first);
      assertRequestsUnharmed("http://localhost:" + silent.getLocalPort());
      assertThat(first).as("the variant did try to send").isDone();
      first.get().close();
    }
  }

  private void assertRequestsUnharmed(String backend) throws Exception {
    try (SystemProperties settings = SystemProperties.set(properties(backend));
        RunningNode node =
            RunningNode.start(
                Application.class,
                RunningNode.settings(
                    "a1", Topologies.REST, peer -> URI.create("http://" + peer)))) {
      for (int i = 0; i < REQUESTS; i++) {
        long start = System.nanoTime();
        int status = node.get("/op/answer", Integer.toString(i)).statusCode();

        assertThat(status).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BOUND);
      }
    }
  }
}
