package tollbooth.benchmarks.spans;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;

/** Takes a batch, and does not come back until it is flushed. */
final class StuckExporter implements SpanExporter {

  private final CountDownLatch flushed = new CountDownLatch(1);

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    try {
      flushed.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return CompletableResultCode.ofFailure();
  }

  @Override
  public CompletableResultCode flush() {
    flushed.countDown();
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return flush();
  }
}
