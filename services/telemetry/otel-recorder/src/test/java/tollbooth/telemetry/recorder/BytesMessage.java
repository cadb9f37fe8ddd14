package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** A message of eight bytes (its number) and padding. */
final class BytesMessage extends Message {

  static final int LEAST_BYTES = Long.BYTES + 1;

  private final long number;
  private final int sizeBytes;
  private final AtomicInteger releases;

  BytesMessage(long number, int sizeBytes, AtomicInteger releases) {
    this.number = number;
    this.sizeBytes = sizeBytes;
    this.releases = releases;
  }

  @Override
  public int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public void copyTo(ByteBuffer out) {
    out.putLong(number).put(new byte[sizeBytes - Long.BYTES]);
  }

  @Override
  public void release() {
    releases.incrementAndGet();
  }
}
