package tollbooth.telemetry.burn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tollbooth.web.NodeSettings;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What services that really run burn, and what they write about it. */
class BurningTest {

  private static final int REQUESTS = 20;

  @TempDir private Path folder;

  @Test
  void burnsInEachRequest() throws Exception {
    JsonNode values = valuesOfGateway(new BurnSettings(5000, 0, 2000, 0));

    assertThat(values.get("burns_in_request").asInt()).isEqualTo(REQUESTS);
    assertThat(values.get("burned_in_request_ms").asDouble())
        .isCloseTo(5.0 * REQUESTS, withinPercentage(1));
    assertThat(values.get("burns_later").asInt()).isZero();
    assertThat(values.get("burns_idle").asInt()).isZero();
  }

  @Test
  void burnsAfterEachRequestEvenWhenItEnds() throws Exception {
    JsonNode values = valuesOfGateway(new BurnSettings(0, 5000, 1000, 0));

    assertThat(values.get("burns_later").asInt()).isEqualTo(REQUESTS);
    assertThat(values.get("burned_later_ms").asDouble())
        .isCloseTo(5.0 * REQUESTS, withinPercentage(1));
    assertThat(values.get("burns_in_request").asInt()).isZero();
  }

  @Test
  void burnsAShareOfACoreAllTheTime() throws Exception {
    JsonNode values = valuesOfGateway(new BurnSettings(0, 0, 2000, 0.1), 10);

    double share =
        values.get("burned_idle_ms").asDouble() / 1000 / values.get("burner_ran_s").asDouble();
    // The first burn comes after a period; the program runs for some ten periods only.
    assertThat(share).isCloseTo(0.1, within(0.02));
    assertThat(values.get("burns_in_request").asInt()).isZero();
  }

  @Test
  void answersAsWithoutIt() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer, new BurnSettings(1000, 0, 2000, 0))) {
      assertThat(gateway.get("/a1").statusCode()).isEqualTo(200);
      assertThat(gateway.get("/unknown").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void burnsNothingInOtherNodes() throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode service =
            RunningNode.start(
                tollbooth.svca.Application.class,
                settings("a1", peer),
                Map.of("burnSettings", new BurnSettings(1000, 1000, 0, 0.1)))) {
      assertThat(service.get("/op/answer", "0").statusCode()).isEqualTo(200);
    }

    assertThat(folder.resolve("a1.results.json")).doesNotExist();
  }

  private JsonNode valuesOfGateway(BurnSettings burns) throws Exception {
    return valuesOfGateway(burns, 0);
  }

  /** What a gateway wrote after some requests, and after it burned so often without any. */
  private JsonNode valuesOfGateway(BurnSettings burns, int timesIdle) throws Exception {
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway = gateway(peer, burns)) {
      for (int i = 0; i < REQUESTS; i++) {
        gateway.get("/a1");
      }
      Burner burner = gateway.bean(Burner.class);
      await().until(() -> burner.values().get("burns_idle") >= timesIdle);
    }
    JsonNode results =
        new JsonMapper().readTree(Files.readString(folder.resolve("gateway.results.json")));
    assertThat(results.get("format").asString()).isEqualTo("tollbooth.results");
    assertThat(results.get("version").asInt()).isEqualTo(1);
    return results.get("values");
  }

  private RunningNode gateway(StubPeer peer, BurnSettings burns) {
    return RunningNode.start(
        tollbooth.gateway.Application.class,
        settings("gateway", peer),
        Map.of("burnSettings", burns));
  }

  private NodeSettings settings(String node, StubPeer peer) {
    NodeSettings usual = RunningNode.settings(node, Topologies.REST, peer.addresses());
    return new NodeSettings(
        usual.name(),
        usual.topology(),
        usual.seed(),
        usual.telemetry(),
        Optional.of(folder),
        usual.addresses(),
        usual.peerProxy());
  }
}
