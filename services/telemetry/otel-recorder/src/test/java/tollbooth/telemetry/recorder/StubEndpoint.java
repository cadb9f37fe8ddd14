package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.zip.GZIPInputStream;

/** An endpoint that reads requests and answers each as a script says. */
final class StubEndpoint implements AutoCloseable {

  static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  /**
   * A complete request.
   *
   * @param head the request line and the headers
   */
  record Request(String head, List<byte[]> chunks) {

    /** The bytes of all chunks. */
    int bytes() {
      return chunks.stream().mapToInt(chunk -> chunk.length).sum();
    }

    /** The body of a request that is compressed. */
    byte[] unpacked() throws IOException {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      chunks.forEach(body::writeBytes);
      try (InputStream input = new GZIPInputStream(new ByteArrayInputStream(body.toByteArray()))) {
        return input.readAllBytes();
      }
    }
  }

  /** What happens on a connection; a script that returns closes it. */
  interface Script {
    void run(StubEndpoint endpoint, Socket socket, InputStream input) throws Exception;
  }

  final Queue<Request> requests = new ConcurrentLinkedQueue<>();
  final AtomicInteger connections = new AtomicInteger();

  /** Bytes that came before the script {@link #after} reads. */
  final AtomicInteger unread = new AtomicInteger();

  private final List<Socket> sockets = new ArrayList<>();
  private final ServerSocket server;
  private final Thread accepting;
  private final Script script;

  private StubEndpoint(Script script, int receiveBufferBytes) throws IOException {
    this.script = script;
    server = new ServerSocket();
    if (receiveBufferBytes > 0) {
      server.setReceiveBufferSize(receiveBufferBytes);
    }
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    accepting = Thread.ofVirtual().start(this::accept);
  }

  static StubEndpoint running(Script script) throws IOException {
    return new StubEndpoint(script, 0);
  }

  /** Reads nothing before this is over, then answers well. */
  static Script after(CountDownLatch over) {
    return (stub, socket, input) -> {
      over.await();
      stub.unread.set(input.available());
      stub.answerAll(socket, input);
    };
  }

  /** With a small receive buffer, so that not reading is noticed early. */
  static StubEndpoint narrow(Script script) throws IOException {
    return new StubEndpoint(script, 4096);
  }

  /** Gives the answers in turn, over all connections, then {@link #OK} for ever. */
  static StubEndpoint answering(String... answers) throws IOException {
    return answering(number -> number < answers.length ? answers[number] : OK);
  }

  private static StubEndpoint answering(IntFunction<String> answers) throws IOException {
    AtomicInteger next = new AtomicInteger();
    return running((endpoint, socket, input) -> {
      while (true) {
        endpoint.readRequest(input);
        String answer = answers.apply(next.getAndIncrement());
        socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
      }
    });
  }

  /** Gives every request the same answer. */
  static StubEndpoint always(String answer) throws IOException {
    return answering(number -> answer);
  }

  void answerAll(Socket socket, InputStream input) throws IOException {
    while (true) {
      readRequest(input);
      socket.getOutputStream().write(OK.getBytes(ISO_8859_1));
    }
  }

  Endpoint endpoint() {
    return new Endpoint("127.0.0.1", server.getLocalPort(), "/v1/traces");
  }

  /** The numbers of all received messages of {@link BytesMessage#LEAST_BYTES}. */
  List<Long> numbers(int messageBytes) {
    List<Long> numbers = new ArrayList<>();
    for (Request request : requests) {
      ByteBuffer body = ByteBuffer.allocate(request.bytes());
      request.chunks().forEach(body::put);
      for (int at = 0; at < body.capacity(); at += messageBytes) {
        numbers.add(body.getLong(at));
      }
    }
    return numbers;
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        connections.incrementAndGet();
        synchronized (sockets) {
          sockets.add(socket);
        }
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      script.run(this, socket, new BufferedInputStream(socket.getInputStream()));
    } catch (Exception ended) {
      // The peer's decision; the tests assert on what was received.
    }
  }

  /** Reads one request completely and keeps it. */
  void readRequest(InputStream input) throws IOException {
    StringBuilder head = new StringBuilder();
    for (String line = line(input); !line.isEmpty(); line = line(input)) {
      head.append(line).append('\n');
    }
    List<byte[]> chunks = new ArrayList<>();
    while (true) {
      int size = Integer.parseInt(line(input), 16);
      byte[] chunk = input.readNBytes(size);
      if (chunk.length < size || !line(input).isEmpty()) {
        throw new EOFException();
      }
      if (size == 0) {
        break;
      }
      chunks.add(chunk);
    }
    requests.add(new Request(head.toString(), chunks));
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
  public void close() throws IOException {
    server.close();
    try {
      // Until it has seen this, the port still takes connections.
      accepting.join();
    } catch (InterruptedException interrupted) {
      throw new IOException(interrupted);
    }
    synchronized (sockets) {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }
}
