package tollbooth.svcb;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.testing.GrpcCaller;
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
    NodeSettings settings =
        new NodeSettings(
            "s1",
            Topology.parse(Topologies.GRPC),
            1,
            "baseline",
            Optional.of(folder),
            node -> URI.create("http://" + node),
            Optional.empty());
    try (RunningNode node = RunningNode.start(Application.class, settings);
        GrpcCaller client = GrpcCaller.of(node)) {
      JsonNode ready = JsonMapper.shared().readTree(Files.readString(folder.resolve("s1.json")));

      assertThat(ready.get("node").asString()).isEqualTo("s1");
      assertThat(ready.get("t_ns").asLong()).isPositive();
      assertThat(client.call(MockRequest.getDefaultInstance()).getNode()).isEqualTo("s1");
    }
  }

  @Test
  void rejectsAnUnknownNodeInOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("topology.json"), Topologies.GRPC);
    EndedProcess service =
        EndedProcess.run(Application.class, Map.of("NODE", "s9", "TOPOLOGY_FILE", file.toString()));

    assertThat(service.exitCode()).isEqualTo(2);
    assertThat(service.errors().strip()).hasLineCount(1).contains("NODE: unknown node 's9'");
    assertThat(service.output()).isEmpty();
  }
}
