package tollbooth.exportermodel;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/**
 * Envoy's administration page, as far as the lab reads it. Its own thread answers, not the loop.
 */
final class Admin implements AutoCloseable {

  private static final int OK = 200;

  private final HttpServer server;

  Admin(int port, Counters counters) throws IOException {
    server = HttpServer.create(new InetSocketAddress(port), 0);
    page("/ready", () -> "LIVE\n");
    page("/stats", counters::json);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private void page(String path, Supplier<String> content) {
    server.createContext(
        path,
        exchange -> {
          byte[] body = content.get().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(OK, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
  }
}
