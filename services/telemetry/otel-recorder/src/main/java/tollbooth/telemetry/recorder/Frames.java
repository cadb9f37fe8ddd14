package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What HTTP's chunked encoding adds around spans. */
final class Frames {

  private static final byte[] END_OF_CHUNK = {'\r', '\n'};
  private static final byte[] LAST_CHUNK = {'0', '\r', '\n', '\r', '\n'};

  private Frames() {}

  /** The request line and the headers. */
  static ByteBuffer head(Endpoint endpoint, Map<String, String> headers) {
    StringBuilder head = new StringBuilder();
    head.append("POST ").append(endpoint.path()).append(" HTTP/1.1\r\n");
    head.append("Host: ").append(endpoint.authority()).append("\r\n");
    head.append("Content-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n");
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return ByteBuffer.wrap(head.append("\r\n").toString().getBytes(ISO_8859_1));
  }

  /** One chunk with these messages, from their first byte on. */
  static List<ByteBuffer> chunk(List<Message> messages) {
    List<ByteBuffer> content = new ArrayList<>();
    for (int first = 0; first < messages.size(); ) {
      int end = endOfGroup(messages, first);
      addGroup(messages.subList(first, end), content);
      first = end;
    }
    long bytes = content.stream().mapToLong(ByteBuffer::remaining).sum();
    List<ByteBuffer> buffers = new ArrayList<>(content.size() + 2);
    buffers.add(ByteBuffer.wrap((Long.toHexString(bytes) + "\r\n").getBytes(ISO_8859_1)));
    buffers.addAll(content);
    buffers.add(ByteBuffer.wrap(END_OF_CHUNK));
    return buffers;
  }

  private static int endOfGroup(List<Message> messages, int first) {
    int end = first + 1;
    while (end < messages.size() && messages.get(first).sharesHeadWith(messages.get(end))) {
      end++;
    }
    return end;
  }

  private static void addGroup(List<Message> group, List<ByteBuffer> content) {
    ByteBuffer head =
        group.getFirst().groupHead(group.stream().mapToLong(Message::sizeBytes).sum());
    if (head != null) {
      content.add(head);
    }
    for (Message message : group) {
      for (ByteBuffer buffer : message.buffers()) {
        content.add(buffer.rewind());
      }
    }
  }

  static ByteBuffer lastChunk() {
    return ByteBuffer.wrap(LAST_CHUNK);
  }
}
