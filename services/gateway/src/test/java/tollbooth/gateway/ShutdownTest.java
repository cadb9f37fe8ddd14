package tollbooth.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;

/** How a service ends with a request in progress. */
class ShutdownTest {

  /** The lab lets Docker kill a service then. */
  private static final Duration KILLED_AFTER = Duration.ofSeconds(5);

  @Test
  void closesItsTelemetryInTimeAlsoIfAPeerHangs() throws Exception {
    try (StubPeer peer = StubPeer.hanging();
        RunningNode gateway =
            RunningNode.start(
                Observed.class,
                RunningNode.settings("gateway", Topologies.REST, peer.addresses()))) {
      Exporter exporter = gateway.bean(Exporter.class);
      Thread.ofVirtual().start(new FutureTask<>(() -> gateway.get("/a1")));
      await().until(() -> peer.calls().size() == 1);

      long startNs = System.nanoTime();
      gateway.close();

      assertThat(exporter.closedNs).isCompleted();
      assertThat(Duration.ofNanos(exporter.closedNs.join() - startNs)).isLessThan(KILLED_AFTER);
    }
  }

  /** The gateway with an exporter, as a variant adds one. */
  @Configuration(proxyBeanMethods = false)
  @Import(Application.class)
  static class Observed {

    @Bean
    Exporter exporter() {
      return new Exporter();
    }
  }

  /** Stands in for one that sends its last spans when it is closed. */
  static final class Exporter implements AutoCloseable {

    private final CompletableFuture<Long> closedNs = new CompletableFuture<>();

    @Override
    public void close() {
      closedNs.complete(System.nanoTime());
    }
  }
}
