package tollbooth.exportermodel;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Takes spans. Answers a while after an export has come, and not before it is allowed to. */
final class StubReceiver implements AutoCloseable {

  /** What an export was, and when by {@link System#nanoTime}. */
  record Export(ExportTraceServiceRequest request, long arrivedNs) {

    int spans() {
      return request.getResourceSpans(0).getScopeSpans(0).getSpansCount();
    }

    Span firstSpan() {
      return request.getResourceSpans(0).getScopeSpans(0).getSpans(0);
    }
  }

  final BlockingQueue<Export> arrived = new LinkedBlockingQueue<>();
  final BlockingQueue<Long> answeredNs = new LinkedBlockingQueue<>();
  private final CountDownLatch allowed = new CountDownLatch(1);
  private final long delayMs;
  private final HttpServer server;

  StubReceiver(long delayMs) throws IOException {
    this.delayMs = delayMs;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(Otlp.PATH, this::receive);
    server.start();
  }

  InetSocketAddress address() {
    return server.getAddress();
  }

  /** From now on exports are answered. */
  void allow() {
    allowed.countDown();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private void receive(HttpExchange exchange) throws IOException {
    long arrivedNs = System.nanoTime();
    byte[] body = exchange.getRequestBody().readAllBytes();
    arrived.add(new Export(ExportTraceServiceRequest.parseFrom(body), arrivedNs));
    try {
      TimeUnit.MILLISECONDS.sleep(delayMs);
      allowed.await();
    } catch (InterruptedException ended) {
      return;
    }
    answeredNs.add(System.nanoTime());
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }
}
