package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import tollbooth.telemetry.discard.DiscardingExporterProvider;

/** OpenTelemetry's SDK with its batch processor. */
final class SdkMaker implements SpanMaker {

  /** What chooses between the senders on the class path. */
  private static final String SENDER = "io.opentelemetry.sdk.common.export.HttpSenderProvider";

  private final CountingExporter exporter;
  private final SdkTracerProvider provider;
  private final Tracer tracer;

  private SdkMaker(SpanExporter sender, int batchSize, int queueSize) {
    exporter = new CountingExporter(sender);
    provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(
                BatchSpanProcessor.builder(exporter)
                    .setMaxQueueSize(queueSize)
                    .setMaxExportBatchSize(batchSize)
                    .setScheduleDelay(Duration.ofSeconds(1))
                    .build())
            .build();
    tracer = provider.get("benchmark");
  }

  /** Records, queues and drops. */
  static SdkMaker discarding(int batchSize, int queueSize) {
    return new SdkMaker(
        new DiscardingExporterProvider().createExporter(null), batchSize, queueSize);
  }

  /**
   * Sends to a backend without compression.
   *
   * @param sender the class name of a provider of senders
   */
  static SdkMaker sending(String url, String sender, int batchSize, int queueSize) {
    System.setProperty(SENDER, sender);
    return new SdkMaker(
        OtlpHttpSpanExporter.builder().setEndpoint(url + "/v1/traces").build(),
        batchSize,
        queueSize);
  }

  @Override
  public void make(int attributes) {
    ApiSpans.make(tracer, attributes);
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
