package tollbooth.telemetry.recorder;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Compresses bytes as one member of gzip (RFC 1952). A body of several members is valid, so each
 * chunk can be compressed for itself. As strong as {@code GZIPOutputStream}. Not thread-safe.
 */
final class Gzip {

  private static final byte[] HEAD = {
    0x1f, (byte) 0x8b, Deflater.DEFLATED, 0, 0, 0, 0, 0, 0, (byte) 0xff
  };

  /** Head, checksum and size, and what deflate adds to a few bytes that it cannot compress. */
  private static final int OVERHEAD_BYTES = 64;

  private final Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
  private final CRC32 checksum = new CRC32();

  /** The most bytes of a member. Deflate adds less than one byte in 2,048. */
  static int mostBytes(int bytes) {
    return bytes + (bytes >> 9) + OVERHEAD_BYTES;
  }

  /**
   * Puts a member.
   *
   * @param out has room for {@link #mostBytes}
   * @param plain what is compressed: all that remains
   */
  void put(ByteBuffer out, ByteBuffer plain) {
    int bytes = plain.remaining();
    checksum.reset();
    checksum.update(plain.duplicate());
    deflater.reset();
    deflater.setInput(plain);
    deflater.finish();
    out.put(HEAD);
    deflater.deflate(out);
    if (!deflater.finished()) {
      throw new BufferOverflowException();
    }
    // Both with the lowest byte first.
    out.putInt(Integer.reverseBytes((int) checksum.getValue()));
    out.putInt(Integer.reverseBytes(bytes));
  }
}
