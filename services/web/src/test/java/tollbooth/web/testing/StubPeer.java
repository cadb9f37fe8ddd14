package tollbooth.web.testing;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import tollbooth.web.PeerAddresses;
import tollbooth.workload.CallPath;

/** A stub for every peer of a node under test: records calls, answers with a fixed status. */
public final class StubPeer implements AutoCloseable {

  private static final byte[] BODY = "{\"node\":\"stub\"}".getBytes();
  private static final long PATIENCE_S = 5;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final List<Headers> headers = new CopyOnWriteArrayList<>();
  private final int status;
  private final CountDownLatch together;
  private final long patienceS;

  private StubPeer(int status, int together, long patienceS) throws IOException {
    this.status = status;
    this.together = new CountDownLatch(together);
    this.patienceS = patienceS;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Answers every request with this status. */
  public static StubPeer answering(int status) throws IOException {
    return new StubPeer(status, 0, PATIENCE_S);
  }

  /**
   * Answers only when this many requests wait for an answer at the same time; 503 after five
   * seconds.
   */
  public static StubPeer answeringTogether(int requests) throws IOException {
    return new StubPeer(200, requests, PATIENCE_S);
  }

  /** Never answers. */
  public static StubPeer hanging() throws IOException {
    return new StubPeer(200, Integer.MAX_VALUE, Long.MAX_VALUE);
  }

  /** The calls in order: operation and call path, such as {@code answer 17.0}. */
  public List<String> calls() {
    return calls;
  }

  /** A header of each request, in order; null where there was none of that name. */
  public List<String> header(String name) {
    return headers.stream().map(request -> request.getFirst(name)).toList();
  }

  /** Every node is here. */
  public PeerAddresses addresses() {
    return node -> URI.create("http://localhost:" + server.getAddress().getPort());
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    calls.add(
        exchange.getRequestURI().getPath().replace("/op/", "")
            + " "
            + exchange.getRequestHeaders().getFirst(CallPath.HEADER));
    headers.add(exchange.getRequestHeaders());
    exchange.sendResponseHeaders(allTogether() ? status : 503, BODY.length);
    exchange.getResponseBody().write(BODY);
    exchange.close();
  }

  private boolean allTogether() {
    together.countDown();
    try {
      return together.await(patienceS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      return false;
    }
  }
}
