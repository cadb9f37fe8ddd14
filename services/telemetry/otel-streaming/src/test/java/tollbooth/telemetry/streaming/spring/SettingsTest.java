package tollbooth.telemetry.streaming.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tollbooth.gateway.Application;
import tollbooth.telemetry.streaming.testing.StubBackend;
import tollbooth.web.NodeSettings;
import tollbooth.web.testing.EndedProcess;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the variables change in a running service, and what it counts. */
class SettingsTest {

  private static final String SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]";
  private static final String NOT_SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[02]";

  private final Map<String, String> properties = new HashMap<>();

  @TempDir private Path folder;

  @AfterEach
  void forgetProperties() {
    properties.keySet().forEach(System::clearProperty);
  }

  @Test
  void makesSpansThatAreNotSent() throws Exception {
    properties.put("otel.traces.exporter", "discard");
    assertThat(headers("traceparent", 1)).singleElement().asString().matches(SAMPLED);
    assertThat(counts().get("gateway_spans_acknowledged").asInt()).isEqualTo(2);
  }

  @Test
  void makesNoSpanWhereItIsDisabled() throws Exception {
    properties.put("otel.sdk.disabled", "true");
    assertThat(headers("traceparent", 1)).containsOnlyNulls();
    assertThat(counts().get("gateway_spans_ended").asInt()).isZero();
  }

  @Test
  void passesOnThatNothingIsSampled() throws Exception {
    properties.put("otel.traces.sampler", "always_off");
    assertThat(headers("traceparent", 1)).singleElement().asString().matches(NOT_SAMPLED);
  }

  @Test
  void passesContextsOnAsB3() throws Exception {
    properties.put("otel.traces.exporter", "discard");
    properties.put("otel.propagators", "b3");
    assertThat(headers("b3", 1))
        .singleElement()
        .asString()
        .matches("[0-9a-f]{32}-[0-9a-f]{16}-1(-[0-9a-f]{16})?");
  }

  @Test
  void saysWhatBecameOfItsSpansWhenItEnds() throws Exception {
    try (StubBackend backend = new StubBackend()) {
      properties.put("otel.exporter.otlp.endpoint", backend.url());
      headers("traceparent", 20);

      assertThat(backend.spans()).hasSize(40);
    }
    JsonNode values = counts();
    assertThat(values.size()).isEqualTo(7);
    assertThat(values.get("gateway_spans_ended").asInt()).isEqualTo(40);
    assertThat(values.get("gateway_spans_acknowledged").asInt()).isEqualTo(40);
    assertThat(values.get("gateway_spans_resent").asInt()).isZero();
  }

  @Test
  void endsTheServiceWithOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("topology.json"), Topologies.REST);
    EndedProcess service =
        EndedProcess.run(
            Application.class,
            Map.of(
                "NODE", "gateway",
                "TOPOLOGY_FILE", file.toString(),
                "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"));

    assertThat(service.exitCode()).isEqualTo(2);
    assertThat(service.errors().strip())
        .hasLineCount(1)
        .contains("OTEL_EXPORTER_OTLP_PROTOCOL: must be one of http/protobuf, not 'grpc'");
    assertThat(service.output()).isEmpty();
  }

  /** A header that the gateway sends with its calls; it has ended then. */
  private List<String> headers(String name, int requests) throws Exception {
    properties.forEach(System::setProperty);
    try (StubPeer peer = StubPeer.answering(200)) {
      try (RunningNode gateway = RunningNode.start(Application.class, settings(peer))) {
        for (int i = 0; i < requests; i++) {
          gateway.get("/a1");
        }
      }
      return peer.header(name);
    }
  }

  private NodeSettings settings(StubPeer peer) {
    NodeSettings usual = RunningNode.settings("gateway", Topologies.REST, peer.addresses());
    return new NodeSettings(
        usual.name(),
        usual.topology(),
        usual.seed(),
        usual.telemetry(),
        Optional.of(folder),
        usual.addresses(),
        usual.peerProxy());
  }

  private JsonNode counts() throws Exception {
    String text = Files.readString(folder.resolve("gateway.results.json"));
    JsonNode results = new JsonMapper().readTree(text);
    assertThat(results.get("format").asString()).isEqualTo("tollbooth.results");
    return results.get("values");
  }
}
