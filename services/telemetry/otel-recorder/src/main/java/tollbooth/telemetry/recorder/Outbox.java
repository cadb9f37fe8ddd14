package tollbooth.telemetry.recorder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** What a connection still has to write. Not thread-safe. */
final class Outbox {

  /** Buffers of one gathering write; Linux takes up to 1,024. */
  private static final int MOST_BUFFERS = 512;

  private final Deque<Unit> units = new ArrayDeque<>();
  private final ByteBuffer[] gathered = new ByteBuffer[MOST_BUFFERS];

  /**
   * Bytes that stay together: once the first is written, the rest must follow.
   *
   * @param spans how many spans it holds
   */
  private record Unit(List<ByteBuffer> buffers, int spans) {

    boolean isBegun() {
      return buffers.getFirst().position() > 0;
    }

    boolean isWritten() {
      return !buffers.getLast().hasRemaining();
    }
  }

  void add(ByteBuffer frame) {
    units.add(new Unit(List.of(frame), 0));
  }

  void add(List<ByteBuffer> chunk, int spans) {
    units.add(new Unit(chunk, spans));
  }

  boolean isEmpty() {
    return units.isEmpty();
  }

  void clear() {
    units.clear();
  }

  /**
   * Writes until all is written or the channel takes no more.
   *
   * @return the bytes written
   */
  long writeTo(GatheringByteChannel channel) throws IOException {
    long total = 0;
    while (!units.isEmpty()) {
      int count = gather();
      long written = channel.write(gathered, 0, count);
      boolean took = !gathered[count - 1].hasRemaining();
      Arrays.fill(gathered, 0, count, null);
      total += written;
      while (!units.isEmpty() && units.getFirst().isWritten()) {
        units.removeFirst();
      }
      if (!took) {
        return total;
      }
    }
    return total;
  }

  private int gather() {
    int count = 0;
    for (Unit unit : units) {
      for (ByteBuffer buffer : unit.buffers()) {
        if (count == MOST_BUFFERS) {
          return count;
        }
        if (buffer.hasRemaining()) {
          gathered[count++] = buffer;
        }
      }
    }
    return count;
  }

  /**
   * Drops the chunks at the end of which no byte is written.
   *
   * @return how many spans they hold
   */
  int withdraw() {
    int spans = 0;
    while (!units.isEmpty() && units.getLast().spans() > 0 && !units.getLast().isBegun()) {
      spans += units.removeLast().spans();
    }
    return spans;
  }
}
