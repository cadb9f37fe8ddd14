package tollbooth.telemetry.streaming;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.propagation.ContextPropagators;
import java.io.Closeable;
import java.time.Duration;
import java.util.Optional;
import tollbooth.telemetry.recorder.Discarder;
import tollbooth.telemetry.recorder.Framing;
import tollbooth.telemetry.recorder.Ledger;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.recorder.Recorder;
import tollbooth.telemetry.recorder.Sender;
import tollbooth.telemetry.streaming.StreamingSettings.Exporter;

/** OpenTelemetry's API over the streaming tracer. Metrics and logs are not there. */
public final class StreamingOpenTelemetry implements OpenTelemetry, Closeable {

  /** Of the bytes that may be on their way, one buffer more for each of these. */
  private static final int BYTES_OF_LONG_SPANS = 256;

  private final Optional<StreamingTracerProvider> tracers;
  private final ContextPropagators propagators;

  private StreamingOpenTelemetry(
      Optional<StreamingTracerProvider> tracers, ContextPropagators propagators) {
    this.tracers = tracers;
    this.propagators = propagators;
  }

  /** Starts to take spans, unless the settings say that none is made. */
  public static StreamingOpenTelemetry start(StreamingSettings settings) {
    return new StreamingOpenTelemetry(
        settings.exporter() == Exporter.NONE ? Optional.empty() : Optional.of(tracers(settings)),
        ContextPropagators.create(settings.propagator()));
  }

  private static StreamingTracerProvider tracers(StreamingSettings settings) {
    Ledger ledger = new Ledger();
    WireFormat format = new OtlpFormat(settings.resource());
    RecordingPool recordings =
        new RecordingPool(new BufferPool(mostBuffers(settings)), settings.limits());
    boolean grouped = settings.recorder().framing() == Framing.GROUP_PER_WRITE;
    SpanQueue queue =
        new SpanQueue(settings.queueSize(), new Wire(format, grouped, recordings), ledger);
    Sender sender =
        settings.exporter() == Exporter.OTLP
            ? Recorder.start(queue, ledger, settings.recorder())
            : Discarder.start(queue, ledger, settings.recorder().flushInterval());
    return new StreamingTracerProvider(
        new Pipeline(settings.sampler(), settings.limits(), format, recordings, queue, ledger),
        sender);
  }

  /** For as many spans under way as the queue takes, as many queued ones, and long ones. */
  private static int mostBuffers(StreamingSettings settings) {
    return Math.toIntExact(
        2L * settings.queueSize() + settings.recorder().retainedBytes() / BYTES_OF_LONG_SPANS);
  }

  @Override
  public TracerProvider getTracerProvider() {
    return tracers.<TracerProvider>map(provider -> provider).orElseGet(TracerProvider::noop);
  }

  @Override
  public ContextPropagators getPropagators() {
    return propagators;
  }

  /** What became of the spans; all zero if none is made. */
  public Counts counts() {
    return tracers.map(StreamingTracerProvider::counts).orElseGet(() -> new Ledger().counts());
  }

  /** See {@link StreamingTracerProvider#forceFlush}; true if no span is made. */
  public boolean forceFlush(Duration timeout) {
    return tracers.map(provider -> provider.forceFlush(timeout)).orElse(true);
  }

  /** See {@link StreamingTracerProvider#close}. */
  @Override
  public void close() {
    tracers.ifPresent(StreamingTracerProvider::close);
  }
}
