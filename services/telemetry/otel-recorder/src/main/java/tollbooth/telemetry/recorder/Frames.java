package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;

/** What precedes and follows the chunks of a request, in direct buffers. */
final class Frames {

  private static final ByteBuffer LAST_CHUNK = direct("0\r\n\r\n");

  private Frames() {}

  /** The request line and the headers. */
  static ByteBuffer head(Endpoint endpoint, RecorderSettings settings) {
    StringBuilder head = new StringBuilder();
    head.append("POST ").append(endpoint.path()).append(" HTTP/1.1\r\n");
    head.append("Host: ").append(endpoint.authority()).append("\r\n");
    head.append("Content-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n");
    if (settings.gzip()) {
      head.append("Content-Encoding: gzip\r\n");
    }
    settings
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return direct(head.append("\r\n").toString());
  }

  static ByteBuffer lastChunk() {
    return LAST_CHUNK.duplicate();
  }

  /** Read-only, so that its duplicates can be in several outboxes. */
  private static ByteBuffer direct(String text) {
    byte[] bytes = text.getBytes(ISO_8859_1);
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().asReadOnlyBuffer();
  }
}
