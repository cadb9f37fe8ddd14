package tollbooth.telemetry.recorder;

import java.nio.ByteBuffer;

/**
 * One ended span, encoded as a complete {@code ResourceSpans} field of an export request. Or, with
 * {@link Framing#GROUP_PER_WRITE}, as a part of one, which {@link #groupHead} begins.
 */
public abstract class Message {

  /** The place in the order of taking; set when the recorder takes the message. */
  long sequence;

  /** The sum of its buffers' bytes; at least 1. */
  public abstract int sizeBytes();

  /**
   * Its bytes, in order; direct, so that the kernel reads them without a copy. The recorder moves
   * their positions, and sets them to 0 before each sending.
   */
  public abstract ByteBuffer[] buffers();

  /**
   * What begins the {@code ResourceSpans} of this message and others of its group.
   *
   * @param bytes of all these messages
   * @return null if each message is complete by itself
   */
  public ByteBuffer groupHead(long bytes) {
    return null;
  }

  /** Whether the other message can follow the same head. */
  public boolean sharesHeadWith(Message other) {
    return true;
  }

  /** Gives the buffers back. The recorder calls it once, when it needs the bytes no longer. */
  public abstract void release();
}
