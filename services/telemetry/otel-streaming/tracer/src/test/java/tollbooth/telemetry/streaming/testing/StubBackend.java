package tollbooth.telemetry.streaming.testing;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;

/** A backend that reads requests with the classes generated from OTLP. */
public final class StubBackend implements AutoCloseable {

  private final Queue<Headers> headers = new ConcurrentLinkedQueue<>();
  private final Queue<ExportTraceServiceRequest> requests = new ConcurrentLinkedQueue<>();
  private final HttpServer server;

  /** Starts to listen. */
  public StubBackend() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  private void take(HttpExchange exchange) throws IOException {
    headers.add(exchange.getRequestHeaders());
    requests.add(ExportTraceServiceRequest.parseFrom(exchange.getRequestBody().readAllBytes()));
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  /** Where it listens, without a path. */
  public String url() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  /** The headers of each request. */
  public Collection<Headers> headers() {
    return headers;
  }

  /** What was received. */
  public List<ResourceSpans> groups() {
    return requests.stream().flatMap(one -> one.getResourceSpansList().stream()).toList();
  }

  /** The spans that were received. */
  public List<Span> spans() {
    return groups().stream()
        .flatMap(group -> group.getScopeSpansList().stream())
        .flatMap(scope -> scope.getSpansList().stream())
        .toList();
  }

  /** Forgets what was received. */
  public void forget() {
    requests.clear();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
