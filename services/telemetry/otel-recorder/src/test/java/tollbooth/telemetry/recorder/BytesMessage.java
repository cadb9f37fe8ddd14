package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** A message of eight bytes (its number) and padding, in two direct buffers. */
final class BytesMessage extends Message {

  static final int LEAST_BYTES = Long.BYTES + 1;

  private final ByteBuffer[] buffers;
  private final int sizeBytes;
  private final AtomicInteger releases;

  BytesMessage(long number, int sizeBytes, AtomicInteger releases) {
    this.sizeBytes = sizeBytes;
    this.releases = releases;
    buffers =
        new ByteBuffer[] {
          ByteBuffer.allocateDirect(Long.BYTES).putLong(0, number),
          ByteBuffer.allocateDirect(sizeBytes - Long.BYTES)
        };
  }

  @Override
  public int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public ByteBuffer[] buffers() {
    return buffers;
  }

  @Override
  public void release() {
    releases.incrementAndGet();
  }
}
