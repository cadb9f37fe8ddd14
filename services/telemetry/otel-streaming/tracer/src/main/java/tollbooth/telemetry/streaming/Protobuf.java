package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * The parts of protobuf that this tracer needs. Fields with numbers up to 15 have one-byte tags.
 */
final class Protobuf {

  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int BYTES = 2;
  static final int FIXED32 = 5;

  private Protobuf() {}

  static int tag(int field, int type) {
    return field << 3 | type;
  }

  static int varintSize(long value) {
    return (70 - Long.numberOfLeadingZeros(value | 1)) / 7;
  }

  static void putVarint(ByteBuffer out, long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out.put((byte) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    out.put((byte) rest);
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
    if (!text.isEmpty()) {
      int bytes = Utf8.length(text);
      out.put(tag(field, BYTES));
      out.putVarint(bytes);
      out.putText(text, bytes);
    }
  }

  /** Appends the field of an ID of 8 bytes. */
  static void putId(Chain out, int field, long id) {
    out.put(tag(field, BYTES));
    out.put(8);
    out.putBigEndian(id);
  }

  /** Appends the field of an ID of 16 bytes. */
  static void putId(Chain out, int field, long high, long low) {
    out.put(tag(field, BYTES));
    out.put(16);
    out.putBigEndian(high);
    out.putBigEndian(low);
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
    Chain chain = new Chain(new BufferPool(1 << 10), 1 << 20);
    chain.begin();
    content.accept(chain);
    ByteBuffer bytes = ByteBuffer.allocate(chain.length());
    for (Buffer part = chain.read(); part != null; part = part.next) {
      bytes.put(part.bytes);
    }
    return bytes.array();
  }
}
