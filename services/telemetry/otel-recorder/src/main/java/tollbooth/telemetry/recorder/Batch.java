package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The spans of one request, framed as chunks, kept until its answer. */
final class Batch {

  private final Segments segments;

  /** Each is filled up to its position. */
  private final List<ByteBuffer> framed = new ArrayList<>();

  private int spans;
  private long bytes;
  private long oldest = Long.MAX_VALUE;
  private int attempts = 1;
  private long notBeforeNanos;
  private Connection sender;

  Batch(Segments segments) {
    this.segments = segments;
  }

  /**
   * Counts spans whose chunks are appended or kept.
   *
   * @param sequence the lowest of theirs, and higher than any before
   */
  void count(int moreSpans, long moreBytes, long sequence) {
    if (spans == 0) {
      oldest = sequence;
    }
    spans += moreSpans;
    bytes += moreBytes;
  }

  /** Copies chunks: all that remains in the buffer. */
  void append(ByteBuffer chunks) {
    while (chunks.hasRemaining()) {
      if (framed.isEmpty() || !framed.getLast().hasRemaining()) {
        framed.add(segments.take(0));
      }
      ByteBuffer last = framed.getLast();
      int count = Math.min(last.remaining(), chunks.remaining());
      last.put(last.position(), chunks, chunks.position(), count);
      last.position(last.position() + count);
      chunks.position(chunks.position() + count);
    }
  }

  /** Becomes the owner of a segment, which is filled with chunks up to its position. */
  void keep(ByteBuffer segment) {
    framed.add(segment);
  }

  int spans() {
    return spans;
  }

  /** Without framing. */
  long bytes() {
    return bytes;
  }

  int attempts() {
    return attempts;
  }

  /** The lowest sequence of its spans. */
  long oldest() {
    return oldest;
  }

  /** Views of all chunks. */
  List<ByteBuffer> chunks() {
    return lastBytes(framed.stream().mapToLong(ByteBuffer::position).sum());
  }

  /** Views of the last bytes of the chunks, so many of them. */
  List<ByteBuffer> lastBytes(long count) {
    List<ByteBuffer> views = new ArrayList<>();
    long missing = count;
    for (int i = framed.size() - 1; missing > 0; i--) {
      ByteBuffer view = framed.get(i).duplicate().flip();
      int some = (int) Math.min(missing, view.limit());
      views.addFirst(view.position(view.limit() - some));
      missing -= some;
    }
    return views;
  }

  /** Remembers who sends it. */
  void sentBy(Connection connection) {
    sender = connection;
  }

  /** Who sent it last. */
  Connection sender() {
    return sender;
  }

  /** Prepares one more sending, at this time or later. */
  void retryAt(long nanos) {
    attempts++;
    notBeforeNanos = nanos;
  }

  long notBeforeNanos() {
    return notBeforeNanos;
  }

  /** Gives the segments back. */
  void release() {
    framed.forEach(segments::give);
    framed.clear();
  }
}
