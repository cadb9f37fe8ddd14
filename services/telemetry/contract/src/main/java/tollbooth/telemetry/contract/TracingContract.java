package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tollbooth.web.testing.RunningNode;

/** Requests through three services that really run make the spans that the topology predicts. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class TracingContract {

  private static final String TOPOLOGY =
      """
      format: tollbooth.topology
      version: 1
      entry: gateway
      nodes:
        gateway: {kind: gateway, routes: {row: a1.row, fan: a1.fan, broken: a1.broken, dead: a9.answer}}
        a1:
          kind: svc-a
          operations:
            row: {calls: [{to: [a2.answer], times: 3, order: sequence}]}
            fan: {calls: [{to: [a2.answer], times: 4, order: parallel}]}
            broken: {calls: [{to: [a2.broken]}]}
        a2: {kind: svc-a, operations: {answer: {}, broken: {error_probability: 1}}}
        a9: {kind: svc-a, operations: {answer: {}}}
      """;

  private final Map<String, URI> addresses =
      new ConcurrentHashMap<>(Map.of("a9", URI.create("http://localhost:1")));
  private RunningNode gateway;
  private RunningNode a1;
  private RunningNode a2;

  /** Beans for every node, by name, that keep its spans here. */
  protected abstract Map<String, Object> beans();

  /** What the variant is set to, as system properties. */
  protected abstract Map<String, String> properties();

  /** The spans that have finished. */
  protected abstract List<RecordedSpan> recorded();

  /** Forgets the spans that have finished. */
  protected abstract void forget();

  /**
   * The entry. Routes: {@code row} and {@code fan} make 3 and 4 calls of a2, {@code broken} one
   * that fails; nobody answers {@code dead}.
   */
  protected final RunningNode gateway() {
    return gateway;
  }

  /** Where a node listens. */
  protected final URI address(String node) {
    return addresses.get(node);
  }

  /** Waits for so many spans, and no more: a server's may end after its client has the answer. */
  protected final List<RecordedSpan> finished(int count) {
    await().until(() -> recorded().size() >= count);
    assertThat(recorded()).hasSize(count);
    return recorded();
  }

  @BeforeAll
  final void start() {
    try (SystemProperties settings = SystemProperties.set(properties())) {
      gateway = start(tollbooth.gateway.Application.class, "gateway");
      a1 = start(tollbooth.svca.Application.class, "a1");
      a2 = start(tollbooth.svca.Application.class, "a2");
    }
  }

  private RunningNode start(Class<?> program, String name) {
    RunningNode node =
        RunningNode.start(program, RunningNode.settings(name, TOPOLOGY, addresses::get), beans());
    addresses.put(name, node.address());
    return node;
  }

  @AfterAll
  final void stop() {
    gateway.close();
    a1.close();
    a2.close();
  }

  @BeforeEach
  final void startWithNoSpans() {
    forget();
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
