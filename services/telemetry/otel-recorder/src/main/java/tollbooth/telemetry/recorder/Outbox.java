package tollbooth.telemetry.recorder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/** What a connection must write before it takes fresh spans. Not thread-safe. */
final class Outbox {

  private final Deque<ByteBuffer> frames = new ArrayDeque<>();

  void add(ByteBuffer frame) {
    frames.add(frame);
  }

  boolean isEmpty() {
    return frames.isEmpty();
  }

  void clear() {
    frames.clear();
  }

  /**
   * Writes what the channel takes at once.
   *
   * @return the bytes written
   */
  long writeTo(GatheringByteChannel channel) throws IOException {
    return frames.isEmpty() ? 0 : write(channel, frames.toArray(ByteBuffer[]::new));
  }

  /**
   * Writes what the channel takes at once, of this and then of fresh chunks.
   *
   * @param chunks its position says how many of its bytes were written
   * @return the bytes written, with those of the chunks
   */
  long writeTo(GatheringByteChannel channel, ByteBuffer chunks) throws IOException {
    ByteBuffer[] all = frames.toArray(new ByteBuffer[frames.size() + 1]);
    all[frames.size()] = chunks;
    return write(channel, all);
  }

  private long write(GatheringByteChannel channel, ByteBuffer[] all) throws IOException {
    long written = channel.write(all);
    while (!frames.isEmpty() && !frames.getFirst().hasRemaining()) {
      frames.removeFirst();
    }
    return written;
  }
}
