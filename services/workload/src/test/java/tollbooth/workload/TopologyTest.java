package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

class TopologyTest {

  private static final Path FIXTURES = Path.of("src/test/resources/topologies");

  @ParameterizedTest
  @MethodSource("validFiles")
  void acceptsEveryValidFile(Path file) throws IOException {
    String yaml = Files.readString(file);
    Topology topology = Topology.parse(yaml);

    assertThat(callsByRoute(topology)).isEqualTo(expected(yaml, "calls"));
  }

  @ParameterizedTest
  @MethodSource("invalidFiles")
  void refusesEveryInvalidFileInOneLineThatNamesNodeAndField(Path file) throws IOException {
    String yaml = Files.readString(file);
    String place = yaml.lines().findFirst().orElseThrow().replace("# expect: ", "");

    assertThatThrownBy(() -> Topology.parse(yaml))
        .isInstanceOf(TopologyException.class)
        .hasMessageContaining(place)
        .message()
        .hasLineCount(1);
  }

  @Test
  void readsEveryFieldOfAnOperation() throws IOException {
    Topology topology = Topology.parse(Files.readString(FIXTURES.resolve("valid/fan-out.yaml")));

    Operation work = topology.operation(new Target("a1", "work"));
    assertThat(work.latency()).isEqualTo(Duration.ofMillis(10));
    assertThat(work.errorProbability()).isEqualTo(0.02);
    assertThat(work.calls())
        .containsExactly(
            new CallGroup(
                List.of(new Target("a2", "answer"), new Target("a3", "answer")),
                2,
                CallGroup.Order.PARALLEL));
    assertThat(topology.operation(new Target("a2", "answer")).latency())
        .isEqualTo(Duration.ofNanos(2_500_000));
  }

  @Test
  void tellsWhomANodeCalls() throws IOException {
    Topology topology = Topology.parse(Files.readString(FIXTURES.resolve("valid/mixed.yaml")));

    assertThat(topology.nodes().get("gateway").callees())
        .containsExactly(new Target("a1", "work"), new Target("b1", "work"));
    assertThat(topology.nodes().get("b1").callees())
        .containsExactly(new Target("a2", "answer"), new Target("b2", "answer"));
    assertThat(topology.nodes().get("a2").callees()).isEmpty();
  }

  @Test
  void suggestsTheNameThatWasProbablyMeant() throws IOException {
    String yaml = Files.readString(FIXTURES.resolve("invalid/call-to-missing-operation.yaml"));

    assertThatThrownBy(() -> Topology.parse(yaml)).hasMessageContaining("did you mean 'work'?");
  }

  @Test
  void refusesTenMegabytesInOneLine() {
    assertThatThrownBy(() -> Topology.parse("a: b\n".repeat(2_000_000)))
        .isInstanceOf(TopologyException.class)
        .message()
        .hasLineCount(1);
  }

  @Test
  void refusesAliasesThatGrowWithoutEnd() {
    String bomb =
        IntStream.range(0, 60)
            .mapToObj(i ->
                "b"
                    + i
                    + ": &b"
                    + i
                    + " ["
                    + (i == 0 ? "x" : "*b" + (i - 1) + ",*b" + (i - 1))
                    + "]\n")
            .collect(Collectors.joining());

    assertThatThrownBy(() -> Topology.parse(bomb)).isInstanceOf(TopologyException.class);
  }

  @Test
  void acceptsTheLongestChain() {
    assertThat(Topology.parse(chain(9_999)).nodes()).containsOnlyKeys("gateway", "a1");
    assertThatThrownBy(() -> Topology.parse(chain(10_000)))
        .hasMessageContaining("gateway: routes.a1");
  }

  private static String chain(int calls) {
    return """
    format: tollbooth.topology
    version: 1
    entry: gateway
    nodes:
      gateway: {kind: gateway, routes: {a1: a1.o0}}
      a1:
        kind: svc-a
        operations:
    """
        + IntStream.range(0, calls)
            .mapToObj(i -> "      o" + i + ": {calls: [{to: [a1.o" + (i + 1) + "]}]}\n")
            .collect(Collectors.joining())
        + "      o"
        + calls
        + ": {}\n";
  }

  private static Object expected(String yaml, String what) {
    Map<String, Map<String, Number>> comment =
        new Yaml().load(yaml.lines().findFirst().orElseThrow().substring(2));
    return comment.get(what).entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().longValue()));
  }

  private static Map<String, Long> callsByRoute(Topology topology) {
    Node entry = topology.nodes().get(topology.entry());
    Map<String, Long> calls = new HashMap<>();
    entry.routes().forEach((route, target) -> calls.put(route, 1 + calls(topology, target)));
    entry
        .operations()
        .keySet()
        .forEach(operation ->
            calls.put(operation, calls(topology, new Target(topology.entry(), operation))));
    return calls;
  }

  private static long calls(Topology topology, Target target) {
    return CallPlan.of(topology.operation(target)).stream()
        .flatMap(List::stream)
        .mapToLong(call -> 1 + calls(topology, call.target()))
        .sum();
  }

  static Stream<Path> validFiles() throws IOException {
    return files("valid");
  }

  static Stream<Path> invalidFiles() throws IOException {
    return files("invalid");
  }

  private static Stream<Path> files(String folder) throws IOException {
    try (Stream<Path> files = Files.list(FIXTURES.resolve(folder))) {
      return files.sorted().toList().stream();
    }
  }
}
