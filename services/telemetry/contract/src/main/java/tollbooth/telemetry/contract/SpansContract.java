package tollbooth.telemetry.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import tollbooth.web.testing.RunningNode;

/** Runs nodes in one JVM with a variant, and keeps their spans in memory. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class SpansContract {

  /** For variants that use Spring's observations: every request makes spans, none is sent. */
  protected static final Map<String, String> IN_MEMORY =
      Map.of(
          "spring.task.execution.propagate-context", "true",
          "management.tracing.sampling.probability", "1.0",
          "management.tracing.export.zipkin.enabled", "false");

  private final Map<String, URI> addresses = new ConcurrentHashMap<>();
  private final List<RunningNode> running = new ArrayList<>();

  SpansContract() {}

  /** Beans for every node, by name, that make it record to {@link #spans}. */
  protected abstract Map<String, Object> beans();

  /** The variant's settings, as system properties. */
  protected abstract Map<String, String> properties();

  /** The spans of all nodes. */
  protected abstract Spans spans();

  /** Starts the nodes of the contract's topology. */
  abstract void startNodes();

  /** Starts one node. {@code address} is where other nodes call it. */
  final RunningNode start(
      Class<?> program, String topology, String name, Function<RunningNode, URI> address) {
    RunningNode node =
        RunningNode.start(program, RunningNode.settings(name, topology, addresses::get), beans());
    running.add(node);
    addresses.put(name, address.apply(node));
    return node;
  }

  /** Lets other nodes call this name at this address. */
  final void setAddress(String name, URI address) {
    addresses.put(name, address);
  }

  /** Where other nodes call this node. */
  protected final URI address(String node) {
    return addresses.get(node);
  }

  /**
   * Waits until this number of spans has finished, and asserts that there are no more. A server's
   * span may end after its client has the answer.
   */
  protected final List<RecordedSpan> finished(int count) {
    await().until(() -> spans().recorded().size() >= count);
    assertThat(spans().recorded()).hasSize(count);
    return spans().recorded();
  }

  @BeforeAll
  final void start() {
    try (SystemProperties settings = SystemProperties.set(properties())) {
      startNodes();
    }
  }

  @AfterAll
  final void stop() {
    running.forEach(RunningNode::close);
  }

  @BeforeEach
  final void startWithNoSpans() {
    spans().forget();
  }
}
