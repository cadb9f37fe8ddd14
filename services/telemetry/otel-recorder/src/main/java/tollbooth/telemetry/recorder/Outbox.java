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

  /** Kept for reuse: more than a write has. */
  private static final int MOST_SPARE = 512;

  private final Deque<Unit> units = new ArrayDeque<>();
  private final Deque<Unit> spare = new ArrayDeque<>();
  private final ByteBuffer[] gathered = new ByteBuffer[MOST_BUFFERS];

  void add(ByteBuffer frame) {
    units.add(unused().frame(frame));
  }

  /** Adds one chunk with some of the messages. */
  void addChunk(List<Message> messages, int from, int to) {
    units.add(unused().chunk(messages, from, to));
  }

  private Unit unused() {
    Unit unit = spare.pollLast();
    return unit == null ? new Unit() : unit;
  }

  private void reuse(Unit unit) {
    if (spare.size() < MOST_SPARE) {
      spare.addLast(unit);
    }
  }

  boolean isEmpty() {
    return units.isEmpty();
  }

  void clear() {
    while (!units.isEmpty()) {
      reuse(units.removeLast());
    }
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
        reuse(units.removeFirst());
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
      Unit unit = units.removeLast();
      spans += unit.spans();
      reuse(unit);
    }
    return spans;
  }
}
