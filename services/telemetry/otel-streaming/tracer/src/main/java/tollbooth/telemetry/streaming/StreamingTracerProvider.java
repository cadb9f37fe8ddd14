package tollbooth.telemetry.streaming;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import java.io.Closeable;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.recorder.Sender;

/** Makes one tracer for each scope, and sends their spans until it is closed. */
public final class StreamingTracerProvider implements TracerProvider, Closeable {

  /** Of {@link #close}. A container has seconds to end. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  private final Map<Scope, StreamingTracer> tracers = new ConcurrentHashMap<>();
  private final Pipeline pipeline;
  private final Sender sender;

  /**
   * Makes a provider.
   *
   * @param sender takes the spans of the pipeline's queue
   */
  StreamingTracerProvider(Pipeline pipeline, Sender sender) {
    this.pipeline = pipeline;
    this.sender = sender;
    pipeline.queue().whenHalfFull(sender::wake);
  }

  /**
   * Waits until all spans that ended before are acknowledged, rejected or given up.
   *
   * @return false if the time ran out before
   */
  public boolean forceFlush(Duration timeout) {
    return sender.flush(timeout);
  }

  /** Flushes for 3 s at most, gives up the rest, and waits for the thread's end (10 s at most). */
  @Override
  public void close() {
    sender.close(CLOSE_TIMEOUT);
  }

  /** What became of the spans. */
  public Counts counts() {
    return pipeline.ledger().counts();
  }

  @Override
  public Tracer get(String name) {
    return tracerBuilder(name).build();
  }

  @Override
  public Tracer get(String name, String version) {
    return tracerBuilder(name).setInstrumentationVersion(version).build();
  }

  @Override
  public TracerBuilder tracerBuilder(String name) {
    return new Builder(name == null ? "" : name);
  }

  private final class Builder implements TracerBuilder {

    private final String name;
    private String version;
    private String schemaUrl;

    Builder(String name) {
      this.name = name;
    }

    @Override
    public TracerBuilder setSchemaUrl(String url) {
      schemaUrl = url;
      return this;
    }

    @Override
    public TracerBuilder setInstrumentationVersion(String newVersion) {
      version = newVersion;
      return this;
    }

    @Override
    public Tracer build() {
      return tracers.computeIfAbsent(
          new Scope(name, version, schemaUrl), scope -> new StreamingTracer(pipeline, scope));
    }
  }
}
