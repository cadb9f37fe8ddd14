package tollbooth.telemetry.recorder;

/** What is one chunk of HTTP's chunked encoding, and what shares a {@code ResourceSpans}. */
public enum Framing {
  /**
   * Each span, as the proposal has it. A span that no byte left of can move to another connection.
   * Not compressed.
   */
  CHUNK_PER_SPAN,
  /** All spans of one write: fewer bytes, but they all stay with the connection. */
  CHUNK_PER_WRITE,
  /** As before, but neighbouring spans of a scope in a chunk share their {@code ResourceSpans}. */
  GROUP_PER_WRITE
}
