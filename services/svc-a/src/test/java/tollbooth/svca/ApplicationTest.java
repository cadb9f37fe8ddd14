package tollbooth.svca;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tollbooth.web.NodeSettings;
import tollbooth.web.testing.EndedProcess;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.Topologies;
import tollbooth.workload.Topology;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The program as a process: how it starts, and how it ends with an invalid setting. */
class ApplicationTest {

  @TempDir private Path folder;

  @Test
  void tellsWhenItListens() throws Exception {
    long before = unixNs(Instant.now());
    NodeSettings settings =
        new NodeSettings(
            "a1",
            Topology.parse(Topologies.REST),
            1,
            "otel-manual",
            Optional.of(folder),
            node -> URI.create("http://" + node),
            Optional.empty());
    try (RunningNode node = RunningNode.start(Application.class, settings)) {
      assertThat(folder).isDirectoryContaining("glob:**/a1.json");
      JsonNode ready = JsonMapper.shared().readTree(Files.readString(folder.resolve("a1.json")));

      assertThat(ready.get("format").asString()).isEqualTo("tollbooth.ready");
      assertThat(ready.get("version").asInt()).isEqualTo(1);
      assertThat(ready.get("node").asString()).isEqualTo("a1");
      assertThat(ready.get("variant").asString()).isEqualTo("otel-manual");
      assertThat(ready.get("t_ns").asLong()).isBetween(before, unixNs(Instant.now()));
      assertThat(ready.get("process_start_ns").asLong()).isPositive().isLessThan(before);
      assertThat(ready.get("spring_ready_ns").asLong())
          .isLessThanOrEqualTo(ready.get("t_ns").asLong());
      assertThat(ready.get("versions").get("java").asString()).startsWith("25");
      assertThat(ready.get("versions").get("spring-boot").asString()).isNotEmpty();
      try (var files = Files.list(folder)) {
        assertThat(files).as("nothing unfinished is left").hasSize(1);
      }
    }
  }

  @Test
  void rejectsATopologyThatIsNotResolvedInOneLine() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("topology.json"), Topologies.REST.replace("resolved-", ""));
    EndedProcess service =
        EndedProcess.run(Application.class, Map.of("NODE", "a1", "TOPOLOGY_FILE", file.toString()));

    assertThat(service.exitCode()).isEqualTo(2);
    assertThat(service.errors().strip())
        .hasLineCount(1)
        .contains("topology.json is not tollbooth.resolved-topology version 1");
    assertThat(service.output()).isEmpty();
  }

  private static long unixNs(Instant instant) {
    return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
  }
}
