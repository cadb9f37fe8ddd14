package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Puts messages as one chunk: its size in hexadecimal digits, their bytes, and a line's end. */
final class ChunkWriter {

  /** Bytes around a chunk: eight digits and two ends of lines. */
  static final int MOST_FRAME_BYTES = 12;

  private static final short LINE_END = '\r' << 8 | '\n';
  private static final ByteBuffer NONE = ByteBuffer.allocate(0);

  private final boolean grouped;

  /** Of the chunk that is being put. */
  private final List<ByteBuffer> heads = new ArrayList<>();

  /**
   * Makes a writer.
   *
   * @param grouped whether messages that can share a head do
   */
  ChunkWriter(boolean grouped) {
    this.grouped = grouped;
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

  /**
   * Puts messages as one chunk.
   *
   * @param size the bytes of all messages and heads
   */
  void put(ByteBuffer out, List<Message> messages, int size) {
    putSize(out, size);
    int first = 0;
    for (ByteBuffer head : heads) {
      int after = endOfGroup(messages, first);
      out.put(head);
      copy(messages, first, after, out);
      first = after;
    }
    copy(messages, first, messages.size(), out);
    out.putShort(LINE_END);
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
    for (int shift = (bits - 1) / 4 * 4; shift >= 0; shift -= 4) {
      int digit = bytes >>> shift & 0xf;
      out.put((byte) (digit < 10 ? '0' + digit : 'a' + digit - 10));
    }
    out.putShort(LINE_END);
  }
}
