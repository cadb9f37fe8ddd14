package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;

/**
 * One ended span, encoded as a complete {@code ResourceSpans} field of an export request. Or, with
 * {@link Framing#GROUP_PER_WRITE}, as a part of one, which {@link #groupHead} begins.
 */
public abstract class Message {

  /** The number of its bytes; at least 1. */
  public abstract int sizeBytes();

  /** Puts all its bytes. */
  public abstract void copyTo(ByteBuffer out);

  /**
   * What begins the {@code ResourceSpans} of this message and others of its group.
   *
   * @param bytes of all these messages
   * @return null if each message is complete by itself
   */
  public ByteBuffer groupHead(long bytes) {
    return null;
  }

  /** The size of {@link #groupHead}; only asked with {@link Framing#GROUP_PER_WRITE}. */
  public int groupHeadBytes(long bytes) {
    ByteBuffer head = groupHead(bytes);
    return head == null ? 0 : head.remaining();
  }

  /** Whether the other message can follow the same head. */
  public boolean sharesHeadWith(Message other) {
    return true;
  }

  /** Gives its memory back. The recorder calls it once, as soon as it has copied the bytes. */
  public abstract void release();
}
