package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tollbooth.svca.Application;
import tollbooth.web.testing.RunningNode;

/** Requests through three running services make the spans that the topology predicts. */
public abstract class TracingContract extends SpansContract {

  private static final String TOPOLOGY =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "operations": {}, "routes": {
            "row": "a1.row",
            "fan": "a1.fan",
            "broken": "a1.broken",
            "dead": "a9.answer"
          }},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "row": {"latency_ns": 0, "error_probability": 0,
              "stages": [["a2.answer"], ["a2.answer"], ["a2.answer"]]},
            "fan": {"latency_ns": 0, "error_probability": 0,
              "stages": [["a2.answer", "a2.answer", "a2.answer", "a2.answer"]]},
            "broken": {"latency_ns": 0, "error_probability": 0, "stages": [["a2.broken"]]}
          }},
          "a2": {"kind": "svc-a", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []},
            "broken": {"latency_ns": 0, "error_probability": 1.0, "stages": []}
          }},
          "a9": {"kind": "svc-a", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  private RunningNode gateway;

  /**
   * The entry. Its routes: {@code row} and {@code fan} make 3 and 4 calls to a2, {@code broken} one
   * that fails; no one listens behind {@code dead}.
   */
  protected final RunningNode gateway() {
    return gateway;
  }

  @Override
  final void startNodes() {
    setAddress("a9", URI.create("http://localhost:1"));
    gateway = start(tollbooth.gateway.Application.class, "gateway");
    start(Application.class, "a1");
    start(Application.class, "a2");
  }

  private RunningNode start(Class<?> program, String name) {
    return start(program, TOPOLOGY, name, RunningNode::address);
  }

  @Test
  void tracesAsTheTopologyPredicts() throws Exception {
    gateway.get("/row");
    assertTree(3);
  }

  @Test
  void keepsTheParentOfParallelCalls() throws Exception {
    gateway.get("/fan");
    assertTree(4);
  }

  /** Gateway, its call, the service, and below it each call with its answer. */
  private void assertTree(int calls) {
    List<RecordedSpan> spans = finished(1 + 2 + 2 * calls);
    assertThat(spans).extracting(RecordedSpan::trace).containsOnly(spans.getFirst().trace());
    assertThat(spans).extracting(RecordedSpan::id).doesNotHaveDuplicates();

    RecordedSpan root = only(children(spans, null), "SERVER", 1).getFirst();
    RecordedSpan passing = only(children(spans, root.id()), "CLIENT", 1).getFirst();
    RecordedSpan work = only(children(spans, passing.id()), "SERVER", 1).getFirst();
    for (RecordedSpan call : only(children(spans, work.id()), "CLIENT", calls)) {
      only(children(spans, call.id()), "SERVER", 1);
    }
  }

  private static List<RecordedSpan> only(List<RecordedSpan> spans, String kind, int count) {
    assertThat(spans).hasSize(count);
    assertThat(spans).extracting(RecordedSpan::kind).containsOnly(kind);
    return spans;
  }

  private static List<RecordedSpan> children(List<RecordedSpan> spans, String parent) {
    return spans.stream().filter(span -> Objects.equals(span.parent(), parent)).toList();
  }
}
