package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes that stay together on a connection: once the first is written, the rest must follow. Serves
 * again once its bytes are written or withdrawn, so that a chunk allocates nothing. Not
 * thread-safe.
 */
final class Unit {

  private static final byte[] LINE_END = {'\r', '\n'};
  private static final int MOST_SIZE_BYTES = Long.SIZE / 4 + LINE_END.length;

  private final ByteBuffer size = ByteBuffer.allocateDirect(MOST_SIZE_BYTES);
  private final ByteBuffer end = ByteBuffer.allocateDirect(LINE_END.length).put(LINE_END);
  private final List<ByteBuffer> buffers = new ArrayList<>();
  private int spans;

  /** Becomes these bytes, which no chunk surrounds. */
  Unit frame(ByteBuffer bytes) {
    buffers.clear();
    buffers.add(bytes);
    spans = 0;
    return this;
  }

  /** Becomes one chunk with some of the messages, each from its first byte on. */
  Unit chunk(List<Message> messages, int from, int to) {
    buffers.clear();
    buffers.add(size);
    long bytes = 0;
    for (int first = from; first < to; ) {
      int after = endOfGroup(messages, first, to);
      bytes += addGroup(messages, first, after);
      first = after;
    }
    buffers.add(end.rewind());
    putSize(bytes);
    spans = to - from;
    return this;
  }

  private static int endOfGroup(List<Message> messages, int first, int to) {
    int after = first + 1;
    while (after < to && messages.get(first).sharesHeadWith(messages.get(after))) {
      after++;
    }
    return after;
  }

  /** Adds messages behind their head, if they have one; returns the bytes of all. */
  private long addGroup(List<Message> messages, int from, int to) {
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += messages.get(i).sizeBytes();
    }
    ByteBuffer head = messages.get(from).groupHead(bytes);
    if (head != null) {
      buffers.add(head);
      bytes += head.remaining();
    }
    for (int i = from; i < to; i++) {
      for (ByteBuffer buffer : messages.get(i).buffers()) {
        buffers.add(buffer.rewind());
      }
    }
    return bytes;
  }

  private void putSize(long bytes) {
    size.clear();
    int bits = Long.SIZE - Long.numberOfLeadingZeros(bytes);
    for (int shift = Math.max(0, (bits - 1) / 4 * 4); shift >= 0; shift -= 4) {
      size.put((byte) Character.forDigit((int) (bytes >>> shift) & 0xf, 16));
    }
    size.put(LINE_END).flip();
  }

  List<ByteBuffer> buffers() {
    return buffers;
  }

  /** How many spans it holds. */
  int spans() {
    return spans;
  }

  boolean isBegun() {
    return buffers.getFirst().position() > 0;
  }

  boolean isWritten() {
    return !buffers.getLast().hasRemaining();
  }
}
