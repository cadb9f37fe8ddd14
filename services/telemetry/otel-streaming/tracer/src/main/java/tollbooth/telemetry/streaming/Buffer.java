package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One direct buffer of a chain. Its chain or its pool is its only owner. */
final class Buffer {

  /** Bytes. A span with ten small attributes fits into one. */
  static final int SIZE = 1024;

  final ByteBuffer bytes = ByteBuffer.allocateDirect(SIZE).order(ByteOrder.LITTLE_ENDIAN);

  /** The chain's next buffer; null at its end. All buffers before the end are full. */
  Buffer next;
}
