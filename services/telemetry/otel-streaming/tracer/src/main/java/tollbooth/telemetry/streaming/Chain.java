package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;

/**
 * A growing chain of buffers to append to. Where it can grow no more, it remembers why, gives back
 * what it has, and goes on as if nothing had happened: its bytes are then worthless. Not
 * thread-safe.
 */
final class Chain {

  /** Why a chain's bytes are worthless. */
  enum Failure {
    NO_BUFFER_LEFT,
    TOO_LARGE
  }

  private final BufferPool pool;
  private final int mostBytes;
  private Buffer head;
  private Buffer tail;
  private int fullBytes;
  private Failure failure;

  Chain(BufferPool pool, int mostBytes) {
    this.pool = pool;
    this.mostBytes = mostBytes;
  }

  /** Starts an empty chain; false if the pool has no buffer left. */
  boolean begin() {
    head = pool.take();
    tail = head;
    fullBytes = 0;
    failure = null;
    return head != null;
  }

  /** Null while the chain's bytes are what was appended. */
  Failure failure() {
    return failure;
  }

  /** Bytes. */
  int length() {
    return fullBytes + tail.bytes.position();
  }

  void put(int value) {
    room().put((byte) value);
  }

  void putFixed32(int value) {
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      put(value >>> shift);
    }
  }

  void putFixed64(long value) {
    if (tail.bytes.remaining() >= Long.BYTES) {
      tail.bytes.putLong(value);
      return;
    }
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      put((int) (value >>> shift));
    }
  }

  void putVarint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      put((int) rest & 0x7f | 0x80);
      rest >>>= 7;
    }
    put((int) rest);
  }

  /** An id as protobuf wants it: the highest byte first. */
  void putBigEndian(long value) {
    if (tail.bytes.remaining() >= Long.BYTES) {
      tail.bytes.putLong(Long.reverseBytes(value));
      return;
    }
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      put((int) (value >>> shift));
    }
  }

  void put(byte[] bytes) {
    put(ByteBuffer.wrap(bytes));
  }

  /** Appends what remains in another buffer, which becomes empty. */
  void put(ByteBuffer from) {
    while (from.hasRemaining()) {
      ByteBuffer to = room();
      int count = Math.min(to.remaining(), from.remaining());
      to.put(to.position(), from, from.position(), count);
      to.position(to.position() + count);
      from.position(from.position() + count);
    }
  }

  /**
   * Appends text.
   *
   * @param utf8Length what {@link Utf8#length} says
   */
  void putText(String text, int utf8Length) {
    if (utf8Length == text.length() && tail.bytes.remaining() >= utf8Length) {
      putShortAscii(text);
    } else {
      Utf8.put(text, this);
    }
  }

  private void putShortAscii(String text) {
    ByteBuffer bytes = tail.bytes;
    int start = bytes.position();
    for (int i = 0; i < text.length(); i++) {
      bytes.put(start + i, Utf8.ascii(text.charAt(i)));
    }
    bytes.position(start + text.length());
  }

  private ByteBuffer room() {
    if (!tail.bytes.hasRemaining()) {
      grow();
    }
    return tail.bytes;
  }

  private void grow() {
    if (failure != null) {
      tail.bytes.clear();
      return;
    }
    if (length() >= mostBytes) {
      fail(Failure.TOO_LARGE);
      return;
    }
    Buffer next = pool.take();
    if (next == null) {
      fail(Failure.NO_BUFFER_LEFT);
      return;
    }
    fullBytes += Buffer.SIZE;
    tail.next = next;
    tail = next;
  }

  private void fail(Failure why) {
    failure = why;
    pool.give(head.next);
    head.next = null;
    tail = head;
    fullBytes = 0;
    tail.bytes.clear();
  }

  /**
   * Removes ranges of bytes.
   *
   * @param starts the ranges' first bytes, ascending
   * @param ends the bytes after them; no range overlaps the next
   */
  void remove(int[] starts, int[] ends, int count) {
    if (count == 0 || failure != null) {
      return;
    }
    int length = length();
    Cursor to = new Cursor(head);
    to.skip(starts[0]);
    Cursor from = new Cursor(head);
    for (int i = 0; i < count; i++) {
      from.skip(ends[i] - from.offset);
      int until = i + 1 < count ? starts[i + 1] : length;
      while (from.offset < until) {
        to.set(from.get());
      }
    }
    cut(to.offset);
  }

  /** Keeps this many bytes, at least one. */
  private void cut(int length) {
    Buffer last = head;
    fullBytes = 0;
    while (length - fullBytes > Buffer.SIZE) {
      fullBytes += Buffer.SIZE;
      last = last.next;
    }
    pool.give(last.next);
    last.next = null;
    last.bytes.position(length - fullBytes);
    tail = last;
  }

  /** Ends the chain: its buffers are ready to be read, until they are given back. */
  Buffer read() {
    for (Buffer buffer = head; buffer != null; buffer = buffer.next) {
      buffer.bytes.flip();
    }
    return head;
  }

  /** Gives all buffers back; the chain must not be used any more. */
  void release() {
    pool.give(head);
    head = null;
    tail = null;
  }

  /** A place in the chain, for single bytes. */
  private static final class Cursor {

    private Buffer buffer;
    private int offset;

    Cursor(Buffer buffer) {
      this.buffer = buffer;
    }

    void skip(int count) {
      int target = offset + count;
      while (target / Buffer.SIZE > offset / Buffer.SIZE) {
        offset = (offset / Buffer.SIZE + 1) * Buffer.SIZE;
        buffer = buffer.next;
      }
      offset = target;
    }

    byte get() {
      byte value = buffer.bytes.get(offset % Buffer.SIZE);
      skip(1);
      return value;
    }

    void set(byte value) {
      buffer.bytes.put(offset % Buffer.SIZE, value);
      skip(1);
    }
  }
}
