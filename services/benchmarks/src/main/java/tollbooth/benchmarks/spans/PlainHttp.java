package tollbooth.benchmarks.spans;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;

/** The least that posts requests over HTTP/1.1: one connection, one request at a time. */
final class PlainHttp implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader answers;

  PlainHttp(String url) {
    URI parsed = URI.create(url);
    try {
      socket = new Socket(parsed.getHost(), parsed.getPort());
      answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
    } catch (IOException unreachable) {
      throw new UncheckedIOException(unreachable);
    }
  }

  /** Sends a body and waits for the answer, which must have no body. */
  void post(byte[] body) {
    String head = "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n";
    try {
      OutputStream out = socket.getOutputStream();
      out.write(head.formatted(body.length).getBytes(ISO_8859_1));
      out.write(body);
      if (!"HTTP/1.1 200 OK".equals(answers.readLine())) {
        throw new IOException("not accepted");
      }
      while (!answers.readLine().isEmpty()) {
        // The rest of the head.
      }
    } catch (IOException lost) {
      throw new UncheckedIOException(lost);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException alreadyClosed) {
      throw new UncheckedIOException(alreadyClosed);
    }
  }
}
