package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BehaviourTest {

  private static final Topology TOPOLOGY =
      Topology.parse(
          """
          {
            "format": "tollbooth.resolved-topology",
            "version": 1,
            "nodes": {
              "s1": {"kind": "svc-b", "routes": {}, "operations": {
                "work": {"latency_ns": 10000000, "error_probability": 0,
                  "stages": [["s2.answer", "s2.other"], ["s2.answer"]]},
                "broken": {"latency_ns": 0, "error_probability": 1.0, "stages": []}
              }},
              "s2": {"kind": "svc-b", "routes": {}, "operations": {
                "answer": {"latency_ns": 0, "error_probability": 0, "stages": []},
                "other": {"latency_ns": 0, "error_probability": 0, "stages": []}
              }}
            }
          }
          """);

  private static final CallPath PATH = CallPath.valueOf("17~2");

  private final Behaviour behaviour = new Behaviour("s1", TOPOLOGY.nodes().get("s1"), 1);

  @Test
  void knowsItsOperationsInTheTopologysOrder() {
    assertThat(behaviour.operations()).containsExactly("work", "broken");
  }

  @Test
  void worksOutWhatATopologySays() {
    Task task = behaviour.task("work", new CallHead(PATH, Overrides.NONE), Overrides.NONE);

    assertThat(task.latency()).isEqualTo(Duration.ofMillis(10));
    assertThat(task.fails()).isFalse();
    assertThat(task.calls()).isEqualTo(3);
    assertThat(task.stages()).hasSize(2);
    CallHead head = new CallHead(PATH, Overrides.NONE);
    assertThat(behaviour.task("broken", head, Overrides.NONE).fails()).isTrue();
  }

  @Test
  void letsTheRequestDecide() {
    Overrides requested = new Overrides(Optional.of(3), Optional.of(1.0));
    Task task = behaviour.task("work", new CallHead(PATH, requested), Overrides.NONE);

    assertThat(task.latency()).isEqualTo(Duration.ofMillis(3));
    assertThat(task.fails()).isTrue();
  }

  @Test
  void letsAFaultDecideAndPassesOnTheRequestsOverrides() {
    Overrides requested = new Overrides(Optional.of(3), Optional.of(1.0));
    Overrides fault = new Overrides(Optional.of(50), Optional.empty());
    Task task = behaviour.task("work", new CallHead(PATH, requested), fault);

    assertThat(task.latency()).isEqualTo(Duration.ofMillis(50));
    assertThat(task.fails()).isTrue();
    assertThat(task.head(task.stages().getFirst().getFirst()).overrides()).isEqualTo(requested);
  }

  @Test
  void passesOnPathAndOverridesWithEachCall() {
    Overrides requested = new Overrides(Optional.of(3), Optional.empty());
    Task task = behaviour.task("work", new CallHead(PATH, requested), Overrides.NONE);

    assertThat(task.stages().stream().flatMap(List::stream).map(task::head))
        .containsExactly(
            new CallHead(CallPath.valueOf("17~2.0"), requested),
            new CallHead(CallPath.valueOf("17~2.1"), requested),
            new CallHead(CallPath.valueOf("17~2.2"), requested));
  }

  @Test
  void rejectsAnUnknownOperation() {
    CallHead head = new CallHead(PATH, Overrides.NONE);
    assertThatThrownBy(() -> behaviour.task("wrok", head, Overrides.NONE))
        .isInstanceOf(UnknownOperationException.class)
        .hasMessage("no operation 'wrok'; available: [work, broken]");
  }
}
