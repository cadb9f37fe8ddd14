package tollbooth.exportermodel;

import io.opentelemetry.proto.trace.v1.Span;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What the model counted since its start, under the names of Envoy's counters. */
final class Counters {

  final LongAdder requests = new LongAdder();
  final LongAdder spansDropped = new LongAdder();
  final LongAdder timerFlushes = new LongAdder();
  private final LongAdder spansSent = new LongAdder();
  private final LongAdder exports = new LongAdder();

  /** Counts what is exported. As in Envoy, spans count as sent before they are. */
  Consumer<List<Span>> exporting(Consumer<List<Span>> export) {
    return spans -> {
      spansSent.add(spans.size());
      exports.increment();
      export.accept(spans);
    };
  }

  /** Returns an answer to {@code /stats?format=json}. Each request makes a span. */
  String json() {
    Map<String, LongAdder> named =
        Map.of(
            "http.proxy.downstream_rq_completed", requests,
            "http.proxy.tracing.random_sampling", requests,
            "tracing.model.spans_sent", spansSent,
            "tracing.model.spans_dropped", spansDropped,
            "tracing.model.timer_flushed", timerFlushes,
            "cluster.receiver.upstream_rq_total", exports);
    return named.entrySet().stream()
        .map(one -> "{\"name\":\"%s\",\"value\":%d}".formatted(one.getKey(), one.getValue().sum()))
        .collect(Collectors.joining(",", "{\"stats\":[", "]}"));
  }
}
