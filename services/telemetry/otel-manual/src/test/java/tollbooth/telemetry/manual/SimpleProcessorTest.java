package tollbooth.telemetry.manual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** For whom the SDK's simple processor waits when a span ends (docs/reference/sources.md). */
@Timeout(60)
class SimpleProcessorTest {

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch answer = new CountDownLatch(1);

  @Test
  void aSpanEndsBeforeTheReceiverAnswers() throws IOException, InterruptedException {
    HttpServer receiver =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext("/", this::answerLate);
    receiver.start();
    String url = "http://localhost:" + receiver.getAddress().getPort() + "/v1/traces";
    try (SdkTracerProvider tracing =
        exportingTo(OtlpHttpSpanExporter.builder().setEndpoint(url).build())) {
      endSpan(tracing);
      requested.await();
      CompletableResultCode exported = tracing.forceFlush();
      assertThat(exported.isDone()).isFalse();
      answer.countDown();
      assertThat(exported.join(10, TimeUnit.SECONDS).isSuccess()).isTrue();
    } finally {
      answer.countDown();
      receiver.stop(0);
    }
  }

  private void answerLate(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    awaitAnswer();
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  private void awaitAnswer() {
    requested.countDown();
    try {
      answer.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void anExporterThatBlocksHoldsUpEveryThread() throws InterruptedException {
    try (SdkTracerProvider tracing = exportingTo(new Blocking())) {
      Thread first = Thread.ofPlatform().start(() -> endSpan(tracing));
      requested.await();
      Thread second = Thread.ofPlatform().start(() -> endSpan(tracing));
      await().until(() -> second.getState() == Thread.State.BLOCKED);
      assertThat(first.getState()).isEqualTo(Thread.State.WAITING);
      answer.countDown();
      first.join();
      second.join();
    } finally {
      answer.countDown();
    }
  }

  private static SdkTracerProvider exportingTo(SpanExporter exporter) {
    return SdkTracerProvider.builder()
        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
        .build();
  }

  private static void endSpan(SdkTracerProvider tracing) {
    tracing.get("test").spanBuilder("work").startSpan().end();
  }

  private final class Blocking implements SpanExporter {

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      awaitAnswer();
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
