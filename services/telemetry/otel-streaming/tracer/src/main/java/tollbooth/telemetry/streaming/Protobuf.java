package tollbooth.telemetry.streaming;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/**
 * The parts of protobuf that this tracer needs. Fields with numbers up to 15 have one-byte tags.
 * What writes to an array returns the index after it.
 */
final class Protobuf {

  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int BYTES = 2;
  static final int FIXED32 = 5;

  static final int MOST_VARINT_BYTES = 10;

  /** Text of up to so many units is written in one piece, if it is ASCII. */
  private static final int MOST_PIECE_UNITS = Buffer.SIZE - 3;

  private static final VarHandle LITTLE_INT = view(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LITTLE_LONG = view(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle BIG_LONG = view(long[].class, ByteOrder.BIG_ENDIAN);

  private Protobuf() {}

  private static VarHandle view(Class<?> array, ByteOrder order) {
    return MethodHandles.byteArrayViewVarHandle(array, order);
  }

  static int tag(int field, int type) {
    return field << 3 | type;
  }

  static int varintSize(long value) {
    return (70 - Long.numberOfLeadingZeros(value | 1)) / 7;
  }

  static int putFixed32(byte[] to, int at, int value) {
    LITTLE_INT.set(to, at, value);
    return at + Integer.BYTES;
  }

  static int putFixed64(byte[] to, int at, long value) {
    LITTLE_LONG.set(to, at, value);
    return at + Long.BYTES;
  }

  /** Copies eight bytes. */
  static void copyLong(byte[] from, int index, byte[] to, int at) {
    LITTLE_LONG.set(to, at, (long) LITTLE_LONG.get(from, index));
  }

  static int putVarint(byte[] to, int at, long value) {
    int next = at;
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      to[next++] = (byte) (rest & 0x7f | 0x80);
      rest >>>= 7;
    }
    to[next++] = (byte) rest;
    return next;
  }

  static void putVarint(ByteBuffer out, long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out.put((byte) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    out.put((byte) rest);
  }

  /** The size of a length as a varint; of one that is larger than a buffer, too little. */
  static int shortLengthSize(int length) {
    return length < 0x80 ? 1 : 2;
  }

  /** Writes a length that is at most that of a buffer. */
  static int putShortLength(byte[] to, int at, int length) {
    if (length < 0x80) {
      to[at] = (byte) length;
      return at + 1;
    }
    to[at] = (byte) (length | 0x80);
    to[at + 1] = (byte) (length >>> 7);
    return at + 2;
  }

  /** The size of a field with so many bytes: tag, length and content. */
  static int bytesSize(int bytes) {
    return 1 + varintSize(bytes) + bytes;
  }

  /** The size of a text's field; 0 if the text is empty. */
  static int textSize(String text) {
    return text.isEmpty() ? 0 : bytesSize(Utf8.length(text));
  }

  /** Appends a text's field, unless the text is empty. */
  static void putText(Chain out, int field, String text) {
    int units = text.length();
    if (units == 0) {
      return;
    }
    if (units <= MOST_PIECE_UNITS) {
      int at = out.reserve(3 + units);
      byte[] to = out.bytes();
      to[at] = (byte) tag(field, BYTES);
      int content = putShortLength(to, at + 1, units);
      if (Utf8.putAscii(text, to, content)) {
        out.endAt(content + units);
        return;
      }
    }
    int bytes = Utf8.length(text);
    out.put(tag(field, BYTES));
    out.putVarint(bytes);
    out.putText(text, bytes);
  }

  /** Writes the field of an ID of 8 bytes. */
  static int putId(byte[] to, int at, int field, long id) {
    to[at] = (byte) tag(field, BYTES);
    to[at + 1] = Long.BYTES;
    BIG_LONG.set(to, at + 2, id);
    return at + 2 + Long.BYTES;
  }

  /** Writes the field of an ID of 16 bytes. */
  static int putId(byte[] to, int at, int field, long high, long low) {
    to[at] = (byte) tag(field, BYTES);
    to[at + 1] = 2 * Long.BYTES;
    BIG_LONG.set(to, at + 2, high);
    BIG_LONG.set(to, at + 2 + Long.BYTES, low);
    return at + 2 + 2 * Long.BYTES;
  }

  /** The size of a count's field; 0 if it is 0. */
  static int countSize(int count) {
    return count == 0 ? 0 : 1 + varintSize(count);
  }

  /** Appends a count's field, unless it is 0. */
  static void putCount(Chain out, int field, int count) {
    if (count != 0) {
      out.put(tag(field, VARINT));
      out.putVarint(count);
    }
  }

  /** What is appended, as an array. */
  static byte[] encoded(Consumer<Chain> content) {
    BufferPool buffers = new BufferPool(1 << 10);
    Chain chain = new Chain(buffers, 1 << 20, buffers.take());
    content.accept(chain);
    ByteBuffer bytes = ByteBuffer.allocate(chain.length());
    chain.copyTo(bytes);
    return bytes.array();
  }
}
