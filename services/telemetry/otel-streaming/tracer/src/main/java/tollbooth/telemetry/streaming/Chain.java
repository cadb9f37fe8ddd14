package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;

/**
 * A growing chain of buffers to append to. Where it can grow no more, it remembers why, gives back
 * what it has, and goes on as if nothing had happened: its bytes are then worthless. Serves again
 * after {@link #clear}, and keeps its first buffer. Not thread-safe.
 */
final class Chain {

  /** Why a chain's bytes are worthless. */
  enum Failure {
    NO_BUFFER_LEFT,
    TOO_LARGE,
    BROKEN
  }

  /** Fewer dead bytes than this are not worth a compaction: the usual span has none. */
  private static final int FEW_DEAD_BYTES = 4 * Buffer.SIZE;

  private final BufferPool pool;
  private final int mostBytes;
  private final Buffer head;
  private Buffer tail;

  /** Those of the tail, and how many of them are filled. */
  private byte[] bytes;

  private int position;

  /** Bytes before the tail. */
  private int earlierBytes;

  /** Those that {@link #remove} is going to remove: they do not count towards the limit. */
  private int deadBytes;

  private Failure failure;

  /**
   * Makes an empty chain.
   *
   * @param pool where it takes more buffers from
   * @param head its first one
   */
  Chain(BufferPool pool, int mostBytes, Buffer head) {
    this.pool = pool;
    this.mostBytes = mostBytes;
    this.head = head;
    tail = head;
    bytes = head.bytes;
  }

  /** Becomes empty. */
  void clear() {
    shorten(head);
    earlierBytes = 0;
    deadBytes = 0;
    position = 0;
    failure = null;
  }

  /** Makes a buffer the last one. */
  private void shorten(Buffer last) {
    // A chain lives long: there, storing a reference costs the garbage collector more than a look.
    if (last != tail) {
      pool.give(last.next);
      last.next = null;
      tail = last;
      bytes = last.bytes;
    }
  }

  /** Whether it has more than its first buffer. */
  boolean isLong() {
    return tail != head;
  }

  /** Null while the chain's bytes are what was appended. */
  Failure failure() {
    return failure;
  }

  /** Bytes. */
  int length() {
    return earlierBytes + position;
  }

  /**
   * Makes room in one piece.
   *
   * @param count bytes, at most {@link Buffer#SIZE}
   * @return the index in {@link #bytes} from which they may be written; {@link #endAt} must follow
   */
  int reserve(int count) {
    if (position > Buffer.SIZE - count) {
      grow();
    }
    return position;
  }

  /** Where {@link #reserve} made room. */
  byte[] bytes() {
    return bytes;
  }

  /** Says where the reserved bytes end that are written. */
  void endAt(int index) {
    position = index;
  }

  void put(int value) {
    int at = reserve(1);
    bytes[at] = (byte) value;
    position = at + 1;
  }

  void putFixed32(int value) {
    int at = reserve(Integer.BYTES);
    position = Protobuf.putFixed32(bytes, at, value);
  }

  void putFixed64(long value) {
    int at = reserve(Long.BYTES);
    position = Protobuf.putFixed64(bytes, at, value);
  }

  void putVarint(long value) {
    int at = reserve(Protobuf.MOST_VARINT_BYTES);
    position = Protobuf.putVarint(bytes, at, value);
  }

  void put(byte[] from) {
    put(ByteBuffer.wrap(from));
  }

  /** Appends what remains in another buffer, which becomes empty. */
  void put(ByteBuffer from) {
    while (from.hasRemaining()) {
      int at = reserve(1);
      int count = Math.min(Buffer.SIZE - at, from.remaining());
      from.get(bytes, at, count);
      position = at + count;
    }
  }

  /**
   * Appends text.
   *
   * @param utf8Length what {@link Utf8#length} says
   */
  void putText(String text, int utf8Length) {
    if (utf8Length == text.length()) {
      putUnits(text);
    } else {
      Utf8.put(text, this);
    }
  }

  /** Appends a text of which each unit becomes one byte. */
  private void putUnits(String text) {
    int done = 0;
    while (done < text.length()) {
      int at = reserve(1);
      int count = Math.min(Buffer.SIZE - at, text.length() - done);
      for (int i = 0; i < count; i++) {
        bytes[at + i] = Utf8.ascii(text.charAt(done + i));
      }
      position = at + count;
      done += count;
    }
  }

  private void grow() {
    if (failure != null) {
      position = 0;
      return;
    }
    if (length() - deadBytes >= mostBytes) {
      fail(Failure.TOO_LARGE);
      return;
    }
    Buffer next = pool.take();
    if (next == null) {
      fail(Failure.NO_BUFFER_LEFT);
      return;
    }
    tail.length = position;
    earlierBytes += position;
    tail.next = next;
    tail = next;
    bytes = next.bytes;
    position = 0;
  }

  private void fail(Failure why) {
    clear();
    failure = why;
  }

  /** Half a field would cost the span's whole request. */
  void breakOff() {
    if (failure == null) {
      fail(Failure.BROKEN);
    }
  }

  /** Checks a field: a list in it may have changed since it was measured. */
  void endField(int start, int bytes) {
    if (length() - start != bytes) {
      breakOff();
    }
  }

  /**
   * Counts bytes that {@link #remove} is going to remove.
   *
   * @return whether it should do so now: they are more than all others, and not few
   */
  boolean countDead(int count) {
    deadBytes += count;
    return deadBytes > FEW_DEAD_BYTES && deadBytes > length() / 2;
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
    tail.length = position;
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
    deadBytes = 0;
    earlierBytes = to.offset - to.index;
    position = to.index;
    shorten(to.buffer);
  }

  /** Puts all bytes. */
  void copyTo(ByteBuffer out) {
    for (Buffer buffer = head; buffer != tail; buffer = buffer.next) {
      out.put(buffer.bytes, 0, buffer.length);
    }
    out.put(bytes, 0, position);
  }

  /** The chain's first buffer, when nobody uses the chain any more. */
  Buffer head() {
    return head;
  }

  /** A place in the chain, for single bytes. */
  private static final class Cursor {

    private Buffer buffer;

    /** In the chain. */
    private int offset;

    /** In the buffer. */
    private int index;

    Cursor(Buffer buffer) {
      this.buffer = buffer;
    }

    void skip(int count) {
      offset += count;
      index += count;
      while (index >= buffer.length && buffer.next != null) {
        index -= buffer.length;
        buffer = buffer.next;
      }
    }

    byte get() {
      byte value = buffer.bytes[index];
      skip(1);
      return value;
    }

    void set(byte value) {
      buffer.bytes[index] = value;
      skip(1);
    }
  }
}
