package tollbooth.exportermodel;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.MalformedURLException;
import java.net.Proxy;
import java.net.URI;
import java.net.URL;

/**
 * Sends spans on the calling thread, which waits for the answer. The JDK keeps the connection, but
 * closes it after 5 s without an export. The next export then looks the receiver's name up and
 * connects again, on the same thread.
 */
final class BlockingClient {

  /** OTLP's default. */
  private static final int TIMEOUT_MS = 10_000;

  private static final int BAD_REQUEST = 400;

  private final URL receiver;

  BlockingClient(InetSocketAddress receiver) {
    try {
      this.receiver = URI.create("http://" + Otlp.host(receiver) + Otlp.PATH).toURL();
    } catch (MalformedURLException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Sends a body. An export that fails is lost: what arrived is counted by the receiver. */
  void post(byte[] body) {
    try {
      HttpURLConnection connection = (HttpURLConnection) receiver.openConnection(Proxy.NO_PROXY);
      connection.setRequestMethod("POST");
      connection.setRequestProperty("Content-Type", Otlp.CONTENT_TYPE);
      connection.setConnectTimeout(TIMEOUT_MS);
      connection.setReadTimeout(TIMEOUT_MS);
      connection.setDoOutput(true);
      connection.setFixedLengthStreamingMode(body.length);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body);
      }
      readAll(connection);
    } catch (IOException lost) {
      System.err.println("exporter-model: an export is lost: " + lost.getMessage());
    }
  }

  /** The connection is kept only if its answer was read. */
  private static void readAll(HttpURLConnection connection) throws IOException {
    boolean accepted = connection.getResponseCode() < BAD_REQUEST;
    try (InputStream answer =
        accepted ? connection.getInputStream() : connection.getErrorStream()) {
      if (answer != null) {
        answer.readAllBytes();
      }
    }
  }
}
