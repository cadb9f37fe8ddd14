package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/** Direct buffers for reuse; the kernel reads them without a copy. Not thread-safe. */
final class Segments {

  /** Bytes of a segment that is used again; about what a socket's send buffer takes. */
  static final int SIZE = 1 << 16;

  /** As many as requests of 4 MiB have. */
  private static final int MOST_SPARE = 64;

  private final Deque<ByteBuffer> spare = new ArrayDeque<>();

  /** An empty segment with room for at least so many bytes. */
  ByteBuffer take(int bytes) {
    ByteBuffer segment = bytes <= SIZE ? spare.pollLast() : null;
    return segment == null ? ByteBuffer.allocateDirect(Math.max(bytes, SIZE)) : segment.clear();
  }

  /** Takes back a segment. A larger one is left to the garbage collector. */
  void give(ByteBuffer segment) {
    if (segment.capacity() == SIZE && spare.size() < MOST_SPARE) {
      spare.addLast(segment);
    }
  }
}
