package tollbooth.telemetry.streaming;

import java.nio.ByteBuffer;
import tollbooth.telemetry.recorder.Message;

/**
 * An ended span as the recorder sends it: what precedes it, and the bytes of its recording. Belongs
 * to one recording and serves its spans one after another. Only the recorder's thread uses it.
 */
final class SpanMessage extends Message {

  private final Recording recording;
  private Wire wire;

  /** Of the span, and of the field that it is. */
  private int spanBytes;

  private int fieldBytes;
  private int sizeBytes;

  SpanMessage(Recording recording) {
    this.recording = recording;
  }

  /** Prepares the recording's span for its way. */
  SpanMessage over(Wire over) {
    if (wire != over) {
      wire = over;
    }
    spanBytes = recording.chain.length();
    fieldBytes = Protobuf.bytesSize(spanBytes);
    sizeBytes = fieldBytes;
    if (!wire.grouped()) {
      sizeBytes += wire.format().groupHeadSize(recording.scope(), fieldBytes);
    }
    return this;
  }

  @Override
  public int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public void copyTo(ByteBuffer out) {
    WireFormat format = wire.format();
    if (!wire.grouped()) {
      format.putGroupHead(out, recording.scope(), fieldBytes);
    }
    out.put((byte) format.spanTag());
    Protobuf.putVarint(out, spanBytes);
    recording.chain.copyTo(out);
  }

  @Override
  public ByteBuffer groupHead(long bytes) {
    if (!wire.grouped()) {
      return null;
    }
    ByteBuffer group = ByteBuffer.allocate(groupHeadBytes(bytes));
    wire.format().putGroupHead(group, recording.scope(), Math.toIntExact(bytes));
    return group.flip();
  }

  @Override
  public int groupHeadBytes(long bytes) {
    return wire.format().groupHeadSize(recording.scope(), Math.toIntExact(bytes));
  }

  @Override
  public boolean sharesHeadWith(Message other) {
    return wire.grouped()
        && other instanceof SpanMessage span
        && span.recording.scope() == recording.scope();
  }

  @Override
  public void release() {
    wire.recordings().give(recording);
  }
}
