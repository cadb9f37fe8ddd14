package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Puts messages as one chunk: its size in hexadecimal digits, their bytes, and a line's end. */
final class ChunkWriter {

  private static final int MOST_DIGITS = 8;

  /** Bytes around a chunk: its size and two ends of lines. */
  static final int MOST_FRAME_BYTES = MOST_DIGITS + 2 * Short.BYTES;

  private static final short LINE_END = '\r' << 8 | '\n';
  private static final ByteBuffer NONE = ByteBuffer.allocate(0);

  private final boolean grouped;
  private final int requestBytes;
  private final Segments segments;

  /** Null: nothing is compressed. */
  private final Gzip gzip;

  /** Of the chunk that is being put. */
  private final List<ByteBuffer> heads = new ArrayList<>();

  /** Makes a writer. Messages that can share a head do if they are grouped. */
  ChunkWriter(RecorderSettings settings, Segments segments) {
    grouped = settings.framing() == Framing.GROUP_PER_WRITE;
    gzip = settings.gzip() ? new Gzip() : null;
    requestBytes = settings.requestBytes();
    this.segments = segments;
  }

  /** The most bytes that one more message adds: its own, and a head's unless it shares one. */
  long addedBytes(List<Message> messages, Message next) {
    boolean shares = !grouped || !messages.isEmpty() && messages.getLast().sharesHeadWith(next);
    return next.sizeBytes() + (shares ? 0L : next.groupHeadBytes(requestBytes));
  }

  /** The bytes of messages. */
  static int bytes(List<Message> messages, int from, int to) {
    int bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += messages.get(i).sizeBytes();
    }
    return bytes;
  }

  /** The bytes of a chunk's heads. {@link #put} for the same messages must follow. */
  int headBytes(List<Message> messages) {
    heads.clear();
    int bytes = 0;
    for (int first = 0; grouped && first < messages.size(); ) {
      int after = endOfGroup(messages, first);
      ByteBuffer head = messages.get(first).groupHead(bytes(messages, first, after));
      heads.add(head == null ? NONE : head);
      bytes += heads.getLast().remaining();
      first = after;
    }
    return bytes;
  }

  /** The most bytes of a chunk whose messages and heads have so many. */
  int mostBytes(int size) {
    return MOST_FRAME_BYTES + (gzip == null ? size : Gzip.mostBytes(size));
  }

  /**
   * Puts messages as one chunk.
   *
   * @param out has room for {@link #mostBytes}
   * @param size the bytes of all messages and heads
   */
  void put(ByteBuffer out, List<Message> messages, int size) {
    if (gzip == null) {
      putSize(out, size);
      putAll(out, messages);
    } else {
      putCompressed(out, messages, size);
    }
    out.putShort(LINE_END);
  }

  private void putCompressed(ByteBuffer out, List<Message> messages, int size) {
    ByteBuffer plain = segments.take(size);
    putAll(plain, messages);
    int start = out.position();
    int content = start + MOST_DIGITS + Short.BYTES;
    gzip.put(out.position(content), plain.flip());
    // Known only now, so it may begin with zeros.
    putSize(out.duplicate().position(start), out.position() - content, MOST_DIGITS);
    segments.give(plain);
  }

  private void putAll(ByteBuffer out, List<Message> messages) {
    int first = 0;
    for (ByteBuffer head : heads) {
      int after = endOfGroup(messages, first);
      out.put(head);
      copy(messages, first, after, out);
      first = after;
    }
    copy(messages, first, messages.size(), out);
  }

  /** Puts a message that is complete by itself as one chunk. */
  static void put(ByteBuffer out, Message message) {
    putSize(out, message.sizeBytes());
    message.copyTo(out);
    out.putShort(LINE_END);
  }

  private static int endOfGroup(List<Message> messages, int first) {
    int after = first + 1;
    while (after < messages.size() && messages.get(first).sharesHeadWith(messages.get(after))) {
      after++;
    }
    return after;
  }

  private static void copy(List<Message> messages, int from, int to, ByteBuffer out) {
    for (int i = from; i < to; i++) {
      messages.get(i).copyTo(out);
    }
  }

  private static void putSize(ByteBuffer out, int bytes) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(bytes);
    putSize(out, bytes, (bits + 3) / 4);
  }

  private static void putSize(ByteBuffer out, int bytes, int digits) {
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
      int digit = bytes >>> shift & 0xf;
      out.put((byte) (digit < 10 ? '0' + digit : 'a' + digit - 10));
    }
    out.putShort(LINE_END);
  }
}
