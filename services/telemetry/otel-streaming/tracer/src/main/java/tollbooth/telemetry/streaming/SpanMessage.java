package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;
import tollbooth.telemetry.recorder.Message;

/**
 * An ended span as the recorder sends it: what precedes it, and the buffers of its recording.
 * Belongs to one recording and serves its spans one after another. Only the recorder's thread uses
 * it.
 */
final class SpanMessage extends Message {

  private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

  /** Of the buffer for what precedes a span: resources differ, but seldom much. */
  private static final int HEAD_STEP = 256;

  private final Recording recording;
  private Wire wire;
  private ByteBuffer head = EMPTY;
  private ByteBuffer[] parts = new ByteBuffer[2];
  private int sizeBytes;

  SpanMessage(Recording recording) {
    this.recording = recording;
  }

  /** Prepares the recording's span for its way. */
  SpanMessage over(Wire over) {
    wire = over;
    int spanBytes = recording.chain.length();
    putHead(spanBytes);
    sizeBytes = head.limit() + spanBytes;
    gather(recording.chain.read());
    return this;
  }

  private void putHead(int spanBytes) {
    WireFormat format = wire.format();
    int fieldBytes = Protobuf.bytesSize(spanBytes);
    int groupBytes = wire.grouped() ? 0 : format.groupHeadSize(recording.scope, fieldBytes);
    int headBytes = groupBytes + fieldBytes - spanBytes;
    if (head.capacity() < headBytes) {
      head = ByteBuffer.allocateDirect((headBytes / HEAD_STEP + 1) * HEAD_STEP);
    }
    head.clear();
    if (!wire.grouped()) {
      format.putGroupHead(head, recording.scope, fieldBytes);
    }
    head.put((byte) format.spanTag());
    Protobuf.putVarint(head, spanBytes);
    head.flip();
  }

  private void gather(Buffer chain) {
    int count = 1;
    for (Buffer buffer = chain; buffer != null; buffer = buffer.next) {
      count++;
    }
    if (parts.length != count) {
      parts = new ByteBuffer[count];
    }
    parts[0] = head;
    Buffer buffer = chain;
    for (int i = 1; i < count; i++) {
      parts[i] = buffer.bytes;
      buffer = buffer.next;
    }
  }

  @Override
  public int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public ByteBuffer[] buffers() {
    return parts;
  }

  @Override
  public ByteBuffer groupHead(long bytes) {
    if (!wire.grouped()) {
      return null;
    }
    int spans = Math.toIntExact(bytes);
    ByteBuffer group = ByteBuffer.allocate(wire.format().groupHeadSize(recording.scope, spans));
    wire.format().putGroupHead(group, recording.scope, spans);
    return group.flip();
  }

  @Override
  public boolean sharesHeadWith(Message other) {
    return wire.grouped()
        && other instanceof SpanMessage span
        && span.recording.scope == recording.scope;
  }

  @Override
  public void release() {
    wire.recordings().give(recording);
  }
}
