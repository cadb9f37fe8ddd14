package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.ByteBuffer;

/**
 * How spans look on the wire. Each method appends one call's bytes to a span; {@link #attribute}
 * may come before {@link #start}, and its bytes may be removed again. Texts and values are already
 * within their limits. Implementations keep encoded keys, and have no other state that changes.
 */
interface WireFormat {

  /**
   * What a span knows at its start.
   *
   * @param parentId 0 if it has no parent
   * @param parentIsRemote false if it has no parent
   */
  void start(
      Chain out,
      StreamingSpan span,
      long parentId,
      boolean parentIsRemote,
      SpanKind kind,
      long epochNanos);

  /** The key of attributes with this name, which is not empty. */
  Key key(String name);

  void attribute(Chain out, Key key, String value);

  void attribute(Chain out, Key key, long value);

  void attribute(Chain out, Key key, double value);

  void attribute(Chain out, Key key, boolean value);

  /** An attribute whose value is a list or a {@link io.opentelemetry.api.common.Value}. */
  void attribute(Chain out, Key key, Object value);

  /**
   * An event.
   *
   * @param dropped the number of its attributes that the limit removed
   */
  void event(Chain out, long epochNanos, String name, Attributes attributes, int dropped);

  /**
   * A link.
   *
   * @param dropped the number of its attributes that the limit removed
   */
  void link(Chain out, SpanContext context, Attributes attributes, int dropped);

  /**
   * What a span knows at its end.
   *
   * @param span to whose bytes it is appended; it knows the start and what was dropped
   * @param description empty unless the status is an error with one
   */
  void end(Recording span, String name, long epochNanos, StatusCode status, String description);

  /** What must precede the spans of a scope, encoded once. */
  byte[] scope(Scope scope);

  /** The tag of a span in its group, of one byte; its length follows. */
  int spanTag();

  /**
   * The size of what {@link #putGroupHead} appends.
   *
   * @param scope what {@link #scope} returned
   * @param bytes the length of the group's spans, each with its tag and length
   */
  int groupHeadSize(byte[] scope, int bytes);

  /** Appends what precedes a group of spans, so that all together fit in any request. */
  void putGroupHead(ByteBuffer out, byte[] scope, int bytes);
}
