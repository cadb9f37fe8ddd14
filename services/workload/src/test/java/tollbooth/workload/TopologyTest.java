package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopologyTest {

  /** The lab's tests write the same file. */
  private static final Path EVERY_FIELD = Path.of("src/test/resources/resolved-topology.json");

  private static final Target A2 = new Target("a2", "answer");
  private static final Target B1 = new Target("b1", "answer");
  private static final Target WORK = new Target("b1", "work");

  @Test
  void readsEveryField() throws IOException {
    Map<String, Node> nodes = Topology.parse(Files.readString(EVERY_FIELD)).nodes();

    assertThat(nodes).containsOnlyKeys("gateway", "a1", "b1", "a2");
    assertThat(nodes.get("gateway").kind()).isEqualTo("gateway");
    assertThat(nodes.get("gateway").routes())
        .containsExactly(Map.entry("rest", new Target("a1", "work")), Map.entry("grpc", WORK));
    assertThat(nodes.get("gateway").operations()).isEmpty();
    assertThat(nodes.get("a1").kind()).isEqualTo("svc-a");
    assertThat(nodes.get("a1").routes()).isEmpty();
    assertThat(nodes.get("a1").operations())
        .containsExactly(
            Map.entry(
                "work",
                new Operation(
                    Duration.ofNanos(2_500_000),
                    0,
                    List.of(
                        List.of(new Call(0, B1)),
                        List.of(new Call(1, A2)),
                        List.of(new Call(2, B1)),
                        List.of(new Call(3, WORK), new Call(4, A2))),
                    5)));
    assertThat(nodes.get("b1").operations().get("work").errorProbability()).isEqualTo(0.02);
    assertThat(nodes.get("b1").operations().keySet()).containsExactly("work", "answer");
  }

  @Test
  void namesThePeersOfANode() throws IOException {
    Map<String, Node> nodes = Topology.parse(Files.readString(EVERY_FIELD)).nodes();

    assertThat(nodes.get("gateway").peers()).containsExactly("a1", "b1");
    assertThat(nodes.get("a1").peers()).containsExactly("b1", "a2");
    assertThat(nodes.get("a2").peers()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "format: tollbooth.topology\nversion: 1",
        "{\"format\": \"tollbooth.topology\", \"version\": 1, \"nodes\": {}}",
        "{\"format\": \"tollbooth.resolved-topology\", \"version\": 2, \"nodes\": {}}",
        "{\"format\": \"tollbooth.resolved-topology\", \"version\": 1}",
        "{\"format\": \"tollbooth.resolved-topology\", \"version\": 1, \"nodes\": {\"a1\": 5}}",
      })
  void rejectsAnyOtherFileInOneLine(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Topology.parse(text))
        .withMessageStartingWith("is not tollbooth.resolved-topology version 1")
        .extracting(Throwable::getMessage)
        .asString()
        .hasLineCount(1);
  }
}
