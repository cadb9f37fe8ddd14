package tollbooth.benchmarks.spans;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Reads requests of HTTP/1.1, discards them and answers with success. */
final class LoopbackBackend implements Backend {

  private static final byte[] OK =
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(ISO_8859_1);

  private final CountedThreads threads = new CountedThreads();
  private final AtomicLong bodyBytes = new AtomicLong();
  private final ServerSocket server;

  LoopbackBackend() {
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException noPort) {
      throw new UncheckedIOException(noPort);
    }
    start(this::accept);
  }

  private void start(Runnable work) {
    threads.newThread(work).start();
  }

  @Override
  public String url() {
    return "http://localhost:" + server.getLocalPort();
  }

  /** Of all bodies, with the frames around chunks left out. */
  @Override
  public long bodyBytes() {
    return bodyBytes.get();
  }

  /** Connections stay open, so no thread takes its share along. */
  @Override
  public long cpuNs() {
    return threads.cpuNs();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The benchmark is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream input = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      while (true) {
        readRequest(input);
        socket.getOutputStream().write(OK);
      }
    } catch (IOException ended) {
      // The client has closed the connection.
    }
  }

  private void readRequest(InputStream input) throws IOException {
    long length = 0;
    boolean chunked = false;
    for (String line = line(input); !line.isEmpty(); line = line(input)) {
      String header = line.toLowerCase(Locale.ROOT);
      if (header.startsWith("content-length:")) {
        length = Long.parseLong(header.substring("content-length:".length()).strip());
      }
      chunked |= header.startsWith("transfer-encoding:") && header.endsWith("chunked");
    }
    if (!chunked) {
      skip(input, length);
      return;
    }
    for (long size = size(input); size > 0; size = size(input)) {
      skip(input, size);
      line(input);
    }
    line(input);
  }

  private static long size(InputStream input) throws IOException {
    return Long.parseLong(line(input), 16);
  }

  private void skip(InputStream input, long bytes) throws IOException {
    input.skipNBytes(bytes);
    bodyBytes.addAndGet(bytes);
  }

  private static String line(InputStream input) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = input.read(); next != '\n'; next = input.read()) {
      if (next < 0) {
        throw new EOFException();
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException alreadyClosed) {
      throw new UncheckedIOException(alreadyClosed);
    }
  }
}
