package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** An attribute's key with its encoding. */
final class Key {

  /** The id of a key whose encoding is not kept. */
  static final int NONE = -1;

  /** Up to so many bytes are copied as four numbers, without a call. */
  static final int SHORT = 4 * Long.BYTES;

  private final String name;
  private final int id;
  private final byte[] encoded;
  private final int length;

  /**
   * Makes a key.
   *
   * @param id the same for the same name of a format, or {@link #NONE}
   * @param encoded what precedes the value; depends on the format
   */
  Key(String name, int id, byte[] encoded) {
    this.name = name;
    this.id = id;
    this.encoded = Arrays.copyOf(encoded, Math.max(SHORT, encoded.length));
    length = encoded.length;
  }

  String name() {
    return name;
  }

  int id() {
    return id;
  }

  /** Of the encoding, in bytes. */
  int length() {
    return length;
  }

  /** The encoding. */
  ByteBuffer bytes() {
    return ByteBuffer.wrap(encoded, 0, length);
  }

  /**
   * Writes the encoding; some bytes behind it change too, up to {@link #SHORT} from its start.
   *
   * @return the index after it
   */
  int put(byte[] to, int at) {
    if (length > SHORT) {
      System.arraycopy(encoded, 0, to, at, length);
      return at + length;
    }
    Protobuf.copyLong(encoded, 0, to, at);
    Protobuf.copyLong(encoded, Long.BYTES, to, at + Long.BYTES);
    if (length > 2 * Long.BYTES) {
      Protobuf.copyLong(encoded, 2 * Long.BYTES, to, at + 2 * Long.BYTES);
      Protobuf.copyLong(encoded, 3 * Long.BYTES, to, at + 3 * Long.BYTES);
    }
    return at + length;
  }
}
