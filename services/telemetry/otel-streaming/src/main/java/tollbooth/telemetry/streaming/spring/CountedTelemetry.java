package tollbooth.telemetry.streaming.spring;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.propagation.ContextPropagators;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.streaming.StreamingOpenTelemetry;
import tollbooth.web.AtomicFile;
import tools.jackson.databind.json.JsonMapper;

/** The streaming tracer. When it is closed, it reports to the lab what became of its spans. */
final class CountedTelemetry implements OpenTelemetry, AutoCloseable {

  private final StreamingOpenTelemetry telemetry;
  private final String node;
  private final Optional<Path> folder;
  private final JsonMapper json;

  /**
   * Counts for one node.
   *
   * @param folder where to write the counts; empty: nowhere
   */
  CountedTelemetry(
      StreamingOpenTelemetry telemetry, String node, Optional<Path> folder, JsonMapper json) {
    this.telemetry = telemetry;
    this.node = node;
    this.folder = folder;
    this.json = json;
  }

  @Override
  public TracerProvider getTracerProvider() {
    return telemetry.getTracerProvider();
  }

  @Override
  public ContextPropagators getPropagators() {
    return telemetry.getPropagators();
  }

  @Override
  public void close() {
    telemetry.close();
    folder.ifPresent(path ->
        AtomicFile.write(
            path.resolve(node + ".results.json"),
            json.writeValueAsString(
                Map.of("format", "tollbooth.results", "version", 1, "values", values()))));
  }

  /** The names begin with the node's: those of a trial's parts must differ. */
  private Map<String, Long> values() {
    Counts counts = telemetry.counts();
    Map<String, Long> values = new LinkedHashMap<>();
    values.put(node + "_spans_ended", counts.ended());
    values.put(node + "_spans_acknowledged", counts.acknowledged());
    values.put(node + "_spans_queue_full", counts.queueFull());
    values.put(node + "_spans_too_large", counts.tooLarge());
    values.put(node + "_spans_rejected", counts.rejected());
    values.put(node + "_spans_given_up", counts.givenUp());
    values.put(node + "_spans_resent", counts.resent());
    return values;
  }
}
