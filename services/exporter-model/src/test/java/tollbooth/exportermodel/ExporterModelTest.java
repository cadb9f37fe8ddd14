package tollbooth.exportermodel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExporterModelTest {

  private static final int THRESHOLD = 5;
  private static final int NEVER_MS = 3_600_000;
  private static final long DELAY_MS = 50;
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final byte[] BODY = "0123456789".getBytes(StandardCharsets.UTF_8);

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final BlockingQueue<String> traceparents = new LinkedBlockingQueue<>();
  private HttpServer server;
  private InetSocketAddress serverAddress;

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          traceparents.add(exchange.getRequestHeaders().getFirst("traceparent"));
          exchange.sendResponseHeaders(200, BODY.length);
          exchange.getResponseBody().write(BODY);
          exchange.close();
        });
    server.start();
    serverAddress = server.getAddress();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
    client.close();
  }

  private ExporterModel model(Design design, StubReceiver receiver, int flushIntervalMs)
      throws IOException {
    return new ExporterModel(
        new Settings(design, THRESHOLD, flushIntervalMs, serverAddress, receiver.address(), 0, 0));
  }

  private void get(ExporterModel model) throws Exception {
    assertThat(text(model.port(), "/ten-bytes")).isEqualTo("0123456789");
  }

  private void fillOneExport(ExporterModel model) throws Exception {
    for (int request = 0; request < THRESHOLD; request++) {
      get(model);
    }
  }

  private String text(int port, String path) throws Exception {
    return answer(port, path).body();
  }

  private HttpResponse<String> answer(int port, String path) throws Exception {
    URI address = URI.create("http://localhost:" + port + path);
    HttpRequest request = HttpRequest.newBuilder(address).timeout(BOUND).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    T found = queue.poll(BOUND.toSeconds(), TimeUnit.SECONDS);
    assertThat(found).isNotNull();
    return found;
  }

  @ParameterizedTest
  @EnumSource
  void everySpanIsExported(Design design) throws Exception {
    try (StubReceiver receiver = new StubReceiver(0);
        ExporterModel model = model(design, receiver, 200)) {
      receiver.allow();
      fillOneExport(model);
      get(model);
      int spans = 0;
      while (spans < THRESHOLD + 1) {
        StubReceiver.Export export = next(receiver.arrived);
        spans += export.spans();
        assertThat(export.firstSpan().getAttributesCount()).isGreaterThan(5);
        assertThat(export.firstSpan().getTraceId().size()).isEqualTo(16);
      }
      assertThat(spans).isEqualTo(THRESHOLD + 1);
      assertThat(text(model.adminPort(), "/stats?format=json"))
          .contains("{\"name\":\"tracing.model.spans_sent\",\"value\":6}")
          .contains("{\"name\":\"http.proxy.downstream_rq_completed\",\"value\":6}");
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "WAITING")
  void aRequestIsAnsweredBeforeTheExport(Design design) throws Exception {
    try (StubReceiver receiver = new StubReceiver(DELAY_MS);
        ExporterModel model = model(design, receiver, NEVER_MS)) {
      fillOneExport(model);
      next(receiver.arrived);
      // The receiver answers after this one: a loop that waited would never answer it.
      get(model);
      assertThat(receiver.answeredNs).isEmpty();
      receiver.allow();
      next(receiver.answeredNs);
    }
  }

  @Test
  void aRequestIsAnsweredAfterTheExportThatTheLoopWaitsFor() throws Exception {
    try (StubReceiver receiver = new StubReceiver(DELAY_MS);
        ExporterModel model = model(Design.WAITING, receiver, NEVER_MS)) {
      receiver.allow();
      fillOneExport(model);
      StubReceiver.Export export = next(receiver.arrived);
      get(model);
      long endNs = System.nanoTime();
      assertThat(next(receiver.answeredNs)).isLessThan(endNs);
      assertThat(endNs - export.arrivedNs()).isGreaterThan(DELAY_MS * 1_000_000);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theServerGetsTheContextOfTheSpan(Design design) throws Exception {
    try (StubReceiver receiver = new StubReceiver(0);
        ExporterModel model = model(design, receiver, 200)) {
      receiver.allow();
      get(model);
      byte[] traceId = next(receiver.arrived).firstSpan().getTraceId().toByteArray();
      String hexadecimal = HexFormat.of().formatHex(traceId);
      assertThat(next(traceparents)).matches("00-" + hexadecimal + "-[0-9a-f]{16}-01");
    }
  }

  @Test
  void withoutAServerARequestFails() throws Exception {
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      serverAddress = (InetSocketAddress) closed.getLocalSocketAddress();
    }
    try (StubReceiver receiver = new StubReceiver(0);
        ExporterModel model = model(Design.ASYNC, receiver, NEVER_MS)) {
      assertThat(answer(model.port(), "/").statusCode()).isEqualTo(503);
    }
  }
}
