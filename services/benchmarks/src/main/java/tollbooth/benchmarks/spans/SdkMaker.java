package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import tollbooth.telemetry.discard.DiscardingExporterProvider;

/** OpenTelemetry's SDK. */
final class SdkMaker implements ApiMaker {

  private static final int DEFAULT_BATCH = 512;

  private final CountingExporter exporter;
  private final SdkTracerProvider provider;
  private final Tracer tracer;

  /** OkHttp rejects more than five requests at once, and with them their spans. */
  private final boolean oneAtATime;

  private SdkMaker(CountingExporter exporter, SpanProcessor processor) {
    this.exporter = exporter;
    oneAtATime = processor instanceof SimpleSpanProcessor;
    provider = SdkTracerProvider.builder().addSpanProcessor(processor).build();
    tracer = provider.get("benchmark");
  }

  private static SpanProcessor batching(SpanExporter exporter, int batchSize, int queueSize) {
    return BatchSpanProcessor.builder(exporter)
        .setMaxQueueSize(queueSize)
        .setMaxExportBatchSize(batchSize)
        .setScheduleDelay(Duration.ofSeconds(1))
        .build();
  }

  /** Records, queues and drops. */
  static SdkMaker discarding(int queueSize) {
    return discarding(queueSize, DEFAULT_BATCH);
  }

  /** Records and queues. Once a batch of spans is queued, or after a second, they are dropped. */
  static SdkMaker discarding(int queueSize, int batchSize) {
    CountingExporter exporter =
        new CountingExporter(new DiscardingExporterProvider().createExporter(null));
    return new SdkMaker(exporter, batching(exporter, batchSize, queueSize));
  }

  /** Records and queues. Its exporter never comes back from the first batch. */
  static SdkMaker stuck(int queueSize) {
    CountingExporter exporter = new CountingExporter(new StuckExporter());
    return new SdkMaker(exporter, batching(exporter, DEFAULT_BATCH, queueSize));
  }

  /** Sends to a backend. */
  static SdkMaker sending(String url, SdkOptions options, int queueSize) {
    CountingExporter exporter = new CountingExporter(options.exporter(url));
    return new SdkMaker(
        exporter,
        options.batchSize() == SdkOptions.SIMPLE
            ? SimpleSpanProcessor.create(exporter)
            : batching(exporter, options.batchSize(), queueSize));
  }

  @Override
  public Tracer tracer() {
    return tracer;
  }

  @Override
  public void make(int attributes) {
    ApiSpans.make(tracer, attributes);
    if (oneAtATime) {
      settle();
    }
  }

  @Override
  public void settle() {
    provider.forceFlush().join(30, TimeUnit.SECONDS);
  }

  @Override
  public long delivered() {
    return exporter.delivered.get();
  }

  @Override
  public void close() {
    // Only an exporter that is stuck has anything to do: it comes back.
    exporter.flush();
    provider.close();
  }

  /** Counts what arrives. */
  private static final class CountingExporter implements SpanExporter {

    private final AtomicLong delivered = new AtomicLong();
    private final SpanExporter next;

    CountingExporter(SpanExporter next) {
      this.next = next;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      int count = spans.size();
      CompletableResultCode result = next.export(spans);
      result.whenComplete(() -> {
        if (result.isSuccess()) {
          delivered.addAndGet(count);
        }
      });
      return result;
    }

    @Override
    public CompletableResultCode flush() {
      return next.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return next.shutdown();
    }
  }
}
