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
 * The spans of a trace as text, independent of their order: each with its kind and, in brackets,
 * its children.
 */
final class SpanTree {

  private SpanTree() {}

  /** The spans of a request for an operation: the server's, and two for each call below it. */
  static String predicted(Topology topology, Target target) {
    Operation operation = topology.nodes().get(target.node()).operations().get(target.operation());
    return span(
        "SERVER",
        operation.stages().stream()
            .flatMap(List::stream)
            .map(call -> client(predicted(topology, call.target()))));
  }

  /** The spans of a request through a gateway, given its target's spans. */
  static String throughGateway(String server) {
    return span("SERVER", Stream.of(client(server)));
  }

  /** The recorded spans of one trace; two roots become two trees in a row. */
  static String recorded(List<RecordedSpan> trace) {
    return below(null, trace).collect(Collectors.joining());
  }

  /** The recorded spans, one tree for each trace. */
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
