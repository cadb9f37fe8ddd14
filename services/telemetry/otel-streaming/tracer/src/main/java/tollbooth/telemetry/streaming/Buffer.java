package tollbooth.telemetry.streaming;

/** One buffer of a chain, on the heap: plain stores are the fastest. Its chain or pool owns it. */
final class Buffer {

  /** Bytes. A span with ten small attributes fits into one. */
  static final int SIZE = 1024;

  final byte[] bytes = new byte[SIZE];

  /** How many bytes are filled, once the chain goes on with another buffer. */
  int length;

  /** The chain's next buffer; null at its end. */
  Buffer next;
}
