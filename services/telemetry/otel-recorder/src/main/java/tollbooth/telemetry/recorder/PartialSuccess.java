package tollbooth.telemetry.recorder;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/** Reads how many spans a successful answer rejects. */
final class PartialSuccess {

  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH = 2;
  private static final int FIXED32 = 5;

  private PartialSuccess() {}

  /**
   * Field 1 ({@code rejected_spans}) of field 1 ({@code partial_success}).
   *
   * @param body an {@code ExportTraceServiceResponse}
   * @return 0 if it is absent, or if the body is not protobuf: the status alone says success
   */
  static long rejectedSpans(byte[] body) {
    try {
      return rejected(ByteBuffer.wrap(body), true);
    } catch (BufferUnderflowException | IllegalArgumentException notProtobuf) {
      return 0;
    }
  }

  private static long rejected(ByteBuffer message, boolean outer) {
    long rejected = 0;
    while (message.hasRemaining()) {
      long tag = varint(message);
      boolean first = tag >>> 3 == 1;
      switch ((int) (tag & 7)) {
        case VARINT -> {
          long value = varint(message);
          rejected = first && !outer ? value : rejected;
        }
        case LENGTH -> {
          ByteBuffer field = slice(message, varint(message));
          rejected = first && outer ? rejected(field, false) : rejected;
        }
        case FIXED64 -> slice(message, Long.BYTES);
        case FIXED32 -> slice(message, Integer.BYTES);
        default -> throw new IllegalArgumentException("wire type of tag " + tag);
      }
    }
    return rejected;
  }

  private static ByteBuffer slice(ByteBuffer message, long length) {
    if (length < 0 || length > message.remaining()) {
      throw new BufferUnderflowException();
    }
    ByteBuffer field = message.slice(message.position(), (int) length);
    message.position(message.position() + (int) length);
    return field;
  }

  private static long varint(ByteBuffer message) {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = message.get();
      value |= (next & 0x7fL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number of more than ten bytes");
  }
}
