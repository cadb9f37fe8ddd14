package tollbooth.telemetry.zipkin;

import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.svca.Application;
import tollbooth.telemetry.contract.SystemProperties;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;

/** What Zipkin's reporter sends, as Spring sets it up. */
class SendingTest {

  /** The reporter collects spans for a second. Those of a few requests are more than 1 KiB. */
  private static final int REQUESTS = 20;

  @Test
  void compressesWhatIsLongerThanAKibibyte() throws Exception {
    try (StubPeer backend = StubPeer.answering(202);
        SystemProperties settings = SystemProperties.set(sendingTo(backend));
        RunningNode node =
            RunningNode.start(
                Application.class,
                RunningNode.settings(
                    "a1", Topologies.REST, peer -> URI.create("http://" + peer)))) {
      for (int i = 0; i < REQUESTS; i++) {
        node.get("/op/answer", Integer.toString(i));
      }

      await().until(() -> backend.header("Content-Encoding").contains("gzip"));
    }
  }

  private static Map<String, String> sendingTo(StubPeer backend) {
    return Map.of(
        "management.tracing.sampling.probability",
        "1.0",
        "management.tracing.export.zipkin.endpoint",
        backend.addresses().of("zipkin") + "/api/v2/spans");
  }
}
