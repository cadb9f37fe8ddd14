package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The chunks that no connection has begun. It takes messages from the queue when it has none left,
 * copies them into one direct buffer, and gives their memory back. Not thread-safe.
 */
final class Staging {

  /** Bytes that are framed at once: their frames fit into the segment too. */
  private static final int MOST_BYTES = Segments.SIZE / 8 * 7;

  /** From so many bytes on, a request keeps the segment; fewer are copied into its last one. */
  private static final int WORTH_KEEPING = Segments.SIZE / 2;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** A chunk of the segment. Serves again for each segment. */
  private static final class Chunk {
    private int end;
    private int spans;
    private int bytes;
    private long sequence;
  }

  private final Source source;
  private final Ledger ledger;
  private final int requestBytes;
  private final boolean chunkPerSpan;
  private final Segments segments;
  private final ChunkWriter writer;
  private final List<Message> messages = new ArrayList<>();

  /** Taken from the queue, but not framed: it did not fit. */
  private Message held;

  private long taken;

  /** The chunks are between its position and its limit. Null if there are none. */
  private ByteBuffer segment;

  private Chunk[] chunks = {new Chunk()};
  private int next;
  private int count;

  Staging(Source source, Ledger ledger, RecorderSettings settings, Segments segments) {
    this.source = source;
    this.ledger = ledger;
    this.segments = segments;
    requestBytes = settings.requestBytes();
    chunkPerSpan = settings.framing() == Framing.CHUNK_PER_SPAN;
    writer = new ChunkWriter(settings, segments);
  }

  /** Whether there is a chunk, or a message for one. */
  boolean hasMore() {
    if (next < count) {
      return true;
    }
    if (held == null) {
      held = poll();
    }
    return held != null;
  }

  /** Takes the queue's next message; null if there is none. Drops those that fit in no request. */
  private Message poll() {
    while (true) {
      Message message = source.poll();
      if (message == null) {
        return null;
      }
      taken++;
      if (writer.addedBytes(List.of(), message) <= requestBytes) {
        return message;
      }
      ledger.countTooLarge();
      message.release();
    }
  }

  /**
   * The first chunks that fit into a request.
   *
   * @param room bytes of spans that the request still takes
   * @return a view, with nothing in it if not even the first one fits
   */
  ByteBuffer fitting(long room) {
    if (next == count) {
      frame(room);
    }
    long bytes = 0;
    int end = segment == null ? 0 : segment.position();
    for (int i = next; i < count && bytes + chunks[i].bytes <= room; i++) {
      bytes += chunks[i].bytes;
      end = chunks[i].end;
    }
    return segment == null ? NOTHING : segment.duplicate().limit(end);
  }

  private void frame(long room) {
    // With those of the held message.
    long bytes = hasMore() ? writer.addedBytes(messages, held) : 0;
    if (held == null || bytes > room) {
      return;
    }
    segment = segments.take(0);
    next = 0;
    count = 0;
    long sequence = taken - 1;
    while (held != null && bytes <= room) {
      if (chunkPerSpan) {
        frame(held, sequence++);
      } else {
        messages.add(held);
      }
      held = bytes < MOST_BYTES ? poll() : null;
      bytes += held == null ? 0 : writer.addedBytes(messages, held);
    }
    if (!messages.isEmpty()) {
      frameMessages(sequence);
    }
    segment.flip();
  }

  private void frame(Message message, long sequence) {
    int bytes = message.sizeBytes();
    ensureRoom(bytes + ChunkWriter.MOST_FRAME_BYTES);
    ChunkWriter.put(segment, message);
    addChunk(1, bytes, sequence);
    message.release();
  }

  private void frameMessages(long sequence) {
    int size = ChunkWriter.bytes(messages, 0, messages.size()) + writer.headBytes(messages);
    ensureRoom(writer.mostBytes(size));
    writer.put(segment, messages, size);
    addChunk(messages.size(), size, sequence);
    messages.forEach(Message::release);
    messages.clear();
  }

  private void addChunk(int spans, int bytes, long sequence) {
    if (count == chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * count);
      Arrays.setAll(chunks, i -> i < count ? chunks[i] : new Chunk());
    }
    Chunk chunk = chunks[count++];
    chunk.end = segment.position();
    chunk.spans = spans;
    chunk.bytes = bytes;
    chunk.sequence = sequence;
  }

  private void ensureRoom(int bytes) {
    if (segment.remaining() < bytes) {
      ByteBuffer larger = segments.take(2 * segment.position() + bytes);
      larger.put(segment.flip());
      segments.give(segment);
      segment = larger;
    }
  }

  /**
   * Moves the chunks of which bytes are written into the request that they belong to.
   *
   * @param written bytes since the first chunk's first one
   * @return the last one's bytes that are not written
   */
  int moveBegun(int written, Batch request) {
    if (written == 0) {
      return 0;
    }
    int start = segment.position();
    int spans = 0;
    long bytes = 0;
    int end = start;
    long sequence = chunks[next].sequence;
    while (end < start + written) {
      Chunk chunk = chunks[next++];
      spans += chunk.spans;
      bytes += chunk.bytes;
      end = chunk.end;
    }
    request.count(spans, bytes, sequence);
    hand(start, end, request);
    return end - start - written;
  }

  private void hand(int start, int end, Batch request) {
    boolean all = next == count;
    if (all && start == 0 && end >= WORTH_KEEPING) {
      request.keep(segment.clear().position(end));
      segment = null;
      return;
    }
    request.append(segment.duplicate().limit(end));
    segment.position(end);
    if (all) {
      segments.give(segment);
      segment = null;
    }
  }

  /** The lowest sequence that is not in a request, or lower: all below left the staging. */
  long oldest() {
    if (next < count) {
      return chunks[next].sequence;
    }
    return held == null ? taken : taken - 1;
  }

  /** Gives up all chunks, what an error left unframed, and all that the queue still has. */
  void giveUpAll() {
    for (; next < count; next++) {
      ledger.countGivenUp(chunks[next].spans);
    }
    ledger.countGivenUp(messages.size());
    messages.forEach(Message::release);
    messages.clear();
    while (hasMore()) {
      held.release();
      held = null;
      ledger.countGivenUp(1);
    }
  }
}
