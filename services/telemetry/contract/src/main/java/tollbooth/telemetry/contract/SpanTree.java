package tollbooth.telemetry.contract;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tollbooth.workload.Operation;
import tollbooth.workload.Target;
import tollbooth.workload.Topology;

/**
 * A trace's spans as text that does not depend on their order: each with its kind and, in brackets,
 * those below it.
 */
final class SpanTree {

  private SpanTree() {}

  /** What a request for an operation makes: the server's span, and two for each call below it. */
  static String predicted(Topology topology, Target target) {
    Operation operation = topology.nodes().get(target.node()).operations().get(target.operation());
    return span(
        "SERVER",
        operation.stages().stream()
            .flatMap(List::stream)
            .map(call -> client(predicted(topology, call.target()))));
  }

  /** What a request through a gateway makes, whose target's spans these are. */
  static String throughGateway(String server) {
    return span("SERVER", Stream.of(client(server)));
  }

  /** What was recorded of one trace; two roots would be two trees, one after the other. */
  static String recorded(List<RecordedSpan> trace) {
    return below(null, trace).collect(Collectors.joining());
  }

  /** What was recorded, a tree for each trace. */
  static List<String> recordedByTrace(List<RecordedSpan> spans) {
    return spans.stream().collect(Collectors.groupingBy(RecordedSpan::trace)).values().stream()
        .map(SpanTree::recorded)
        .toList();
  }

  private static Stream<String> below(String parent, List<RecordedSpan> trace) {
    Function<RecordedSpan, String> tree = span -> span(span.kind(), below(span.id(), trace));
    return trace.stream().filter(span -> Objects.equals(span.parent(), parent)).map(tree);
  }

  private static String client(String server) {
    return span("CLIENT", Stream.of(server));
  }

  private static String span(String kind, Stream<String> below) {
    return kind + below.sorted().collect(Collectors.joining(",", "[", "]"));
  }
}
