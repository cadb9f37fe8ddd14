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
    if (frames.isEmpty()) {
      return 0;
    }
    long written = channel.write(frames.toArray(ByteBuffer[]::new));
    while (!frames.isEmpty() && !frames.getFirst().hasRemaining()) {
      frames.removeFirst();
    }
    return written;
  }
}
