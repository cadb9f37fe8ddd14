package tollbooth.telemetry.recorder;

import java.io.ByteArrayOutputStream;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Reads HTTP/1.1 answers from pieces of any size. Not thread-safe. */
final class AnswerReader {

  static final int MOST_BODY_BYTES = 1 << 16;

  private static final int MOST_LINE_CHARACTERS = 1 << 13;
  private static final int MOST_HEADERS = 100;

  private enum Part {
    STATUS,
    HEADERS,
    BODY,
    BODY_UNTIL_END,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILERS
  }

  private final StringBuilder line = new StringBuilder();
  private final Map<String, String> headers = new HashMap<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private Part part = Part.STATUS;
  private int status;
  private boolean http10;
  private int missingBytes;

  /**
   * Reads on.
   *
   * @param input its rest belongs to the next answer
   * @return null until the answer is complete
   * @throws ProtocolException if this is no HTTP/1 answer, or one beyond the bounds
   */
  Answer read(ByteBuffer input) throws ProtocolException {
    while (input.hasRemaining()) {
      boolean complete =
          switch (part) {
            case BODY, CHUNK -> readBody(input);
            case BODY_UNTIL_END -> {
              append(input, input.remaining());
              yield false;
            }
            default -> completesLine(input.get()) && readLine();
          };
      if (complete) {
        return answer();
      }
    }
    return null;
  }

  /** The connection has ended: null unless the end completes an answer. */
  Answer end() {
    return part == Part.BODY_UNTIL_END ? answer() : null;
  }

  private boolean completesLine(byte next) throws ProtocolException {
    if (next == '\n') {
      return true;
    }
    if (next != '\r') {
      line.append((char) (next & 0xff));
    }
    if (line.length() > MOST_LINE_CHARACTERS) {
      throw new ProtocolException("a line of more than " + MOST_LINE_CHARACTERS + " characters");
    }
    return false;
  }

  /** Returns whether this line completes the answer. */
  private boolean readLine() throws ProtocolException {
    String text = line.toString();
    line.setLength(0);
    switch (part) {
      case STATUS -> readStatus(text);
      case HEADERS -> {
        if (text.isEmpty()) {
          return startBody();
        }
        readHeader(text);
      }
      case CHUNK_SIZE -> startChunk(text);
      case CHUNK_END -> part = Part.CHUNK_SIZE;
      case TRAILERS -> {
        return text.isEmpty();
      }
      default -> throw new IllegalStateException(part.name());
    }
    return false;
  }

  private void readStatus(String text) throws ProtocolException {
    if (!text.matches("HTTP/1\\.[01] [1-5][0-9]{2}( .*)?")) {
      throw new ProtocolException("not a status line of HTTP/1");
    }
    http10 = text.charAt(7) == '0';
    status = Integer.parseInt(text.substring(9, 12));
    part = Part.HEADERS;
  }

  private void readHeader(String text) throws ProtocolException {
    int colon = text.indexOf(':');
    if (colon < 1 || headers.size() >= MOST_HEADERS) {
      throw new ProtocolException("not a header, or too many");
    }
    headers.put(
        text.substring(0, colon).toLowerCase(Locale.ROOT), text.substring(colon + 1).strip());
  }

  private boolean startBody() throws ProtocolException {
    if (status < 200) {
      // Informational: the answer itself follows.
      headers.clear();
      part = Part.STATUS;
      return false;
    }
    if (status == 204 || status == 304) {
      return true;
    }
    String length = headers.get("content-length");
    if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
      part = Part.CHUNK_SIZE;
    } else if (length == null) {
      part = Part.BODY_UNTIL_END;
    } else {
      missingBytes = size(length, 10);
      part = Part.BODY;
      return missingBytes == 0;
    }
    return false;
  }

  private void startChunk(String text) throws ProtocolException {
    int extension = text.indexOf(';');
    missingBytes = size((extension < 0 ? text : text.substring(0, extension)).strip(), 16);
    part = missingBytes == 0 ? Part.TRAILERS : Part.CHUNK;
  }

  /** Returns whether these bytes complete the answer. */
  private boolean readBody(ByteBuffer input) throws ProtocolException {
    int bytes = Math.min(missingBytes, input.remaining());
    append(input, bytes);
    missingBytes -= bytes;
    if (missingBytes > 0) {
      return false;
    }
    if (part == Part.BODY) {
      return true;
    }
    part = Part.CHUNK_END;
    return false;
  }

  private void append(ByteBuffer input, int bytes) throws ProtocolException {
    if (body.size() + bytes > MOST_BODY_BYTES) {
      throw new ProtocolException("a body of more than " + MOST_BODY_BYTES + " bytes");
    }
    byte[] piece = new byte[bytes];
    input.get(piece);
    body.writeBytes(piece);
  }

  private static int size(String text, int radix) throws ProtocolException {
    try {
      int size = Integer.parseInt(text, radix);
      if (size >= 0 && size <= MOST_BODY_BYTES) {
        return size;
      }
    } catch (NumberFormatException invalid) {
      // Reported below.
    }
    throw new ProtocolException("not a size from 0 to " + MOST_BODY_BYTES);
  }

  private Answer answer() {
    String connection = headers.getOrDefault("connection", http10 ? "close" : "keep-alive");
    boolean keeps = part != Part.BODY_UNTIL_END && !"close".equalsIgnoreCase(connection);
    Answer answer = new Answer(status, headers.get("retry-after"), keeps, body.toByteArray());
    headers.clear();
    body.reset();
    part = Part.STATUS;
    return answer;
  }
}
