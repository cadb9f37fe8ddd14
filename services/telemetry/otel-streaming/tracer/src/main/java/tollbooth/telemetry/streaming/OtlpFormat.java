package tollbooth.telemetry.streaming;

import static tollbooth.telemetry.streaming.Protobuf.BYTES;
import static tollbooth.telemetry.streaming.Protobuf.FIXED32;
import static tollbooth.telemetry.streaming.Protobuf.FIXED64;
import static tollbooth.telemetry.streaming.Protobuf.VARINT;
import static tollbooth.telemetry.streaming.Protobuf.bytesSize;
import static tollbooth.telemetry.streaming.Protobuf.putShortLength;
import static tollbooth.telemetry.streaming.Protobuf.shortLengthSize;
import static tollbooth.telemetry.streaming.Protobuf.tag;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** OTLP, as protobuf. A span is the message Span without its length. */
final class OtlpFormat implements WireFormat {

  private static final int HAS_REMOTE = 0x100;
  private static final int IS_REMOTE = 0x200;

  /** Fields of Span. */
  private static final int ATTRIBUTES = 9;

  /** IDs of the trace, the span and its parent, kind, time and flags: the most that is fixed. */
  private static final int START_BYTES = 18 + 10 + 10 + 2 + 9 + 6;

  /** The end's time and a status that is not an error with a description. */
  private static final int END_BYTES = 9 + 4;

  /** An attribute of up to this size is written in one piece, with its tag and length. */
  private static final int MOST_ENTRY_BYTES = Buffer.SIZE - 3 - Key.SHORT;

  private final byte[] resource;
  private final Keys keys = new Keys(OtlpFormat::encodedKey);

  /** A format for the spans of one resource. */
  OtlpFormat(Attributes resource) {
    this.resource = resource(resource);
  }

  @Override
  public void start(
      Chain out,
      StreamingSpan span,
      long parentId,
      boolean parentIsRemote,
      SpanKind kind,
      long epochNanos) {
    int at = out.reserve(START_BYTES);
    byte[] to = out.bytes();
    at = Protobuf.putId(to, at, 1, span.traceHigh(), span.traceLow());
    at = Protobuf.putId(to, at, 2, span.id());
    if (parentId != 0) {
      at = Protobuf.putId(to, at, 4, parentId);
    }
    to[at++] = (byte) tag(6, VARINT);
    to[at++] = (byte) kind(kind);
    to[at++] = (byte) tag(7, FIXED64);
    at = Protobuf.putFixed64(to, at, epochNanos);
    // A field number above 15: two bytes of tag.
    at = Protobuf.putVarint(to, at, tag(16, FIXED32));
    at = Protobuf.putFixed32(to, at, flags(span.flags(), parentIsRemote));
    out.endAt(at);
    Protobuf.putText(out, 3, traceState(span.traceState()));
  }

  private static int flags(int trace, boolean remote) {
    return trace | HAS_REMOTE | (remote ? IS_REMOTE : 0);
  }

  private static int kind(SpanKind kind) {
    return switch (kind) {
      case INTERNAL -> 1;
      case SERVER -> 2;
      case CLIENT -> 3;
      case PRODUCER -> 4;
      case CONSUMER -> 5;
    };
  }

  @Override
  public Key key(String name) {
    return keys.get(name);
  }

  /** What is between the length of a KeyValue and that of its value. */
  private static byte[] encodedKey(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer encoded = ByteBuffer.allocate(bytesSize(text.length) + 1);
    encoded.put((byte) tag(1, BYTES));
    Protobuf.putVarint(encoded, text.length);
    return encoded.put(text).put((byte) tag(2, BYTES)).array();
  }

  /** In one piece and one pass, if the text is short and ASCII. */
  @Override
  public void attribute(Chain out, Key key, String value) {
    int units = value.length();
    int anyBytes = 1 + shortLengthSize(units) + units;
    int entryBytes = key.length() + shortLengthSize(anyBytes) + anyBytes;
    if (units < Buffer.SIZE && entryBytes <= MOST_ENTRY_BYTES) {
      int start = out.reserve(3 + entryBytes + Key.SHORT);
      byte[] to = out.bytes();
      int at = putKey(to, start, key, entryBytes, anyBytes);
      to[at] = (byte) tag(1, BYTES);
      at = putShortLength(to, at + 1, units);
      if (Utf8.putAscii(value, to, at)) {
        out.endAt(at + units);
        return;
      }
    }
    OtlpValues.putEntry(out, ATTRIBUTES, key.name(), value);
  }

  @Override
  public void attribute(Chain out, Key key, long value) {
    int anyBytes = 1 + Protobuf.varintSize(value);
    int at = startNumber(out, key, anyBytes);
    if (at < 0) {
      OtlpValues.putEntry(out, ATTRIBUTES, key.name(), value);
      return;
    }
    byte[] to = out.bytes();
    to[at] = (byte) tag(3, VARINT);
    out.endAt(Protobuf.putVarint(to, at + 1, value));
  }

  @Override
  public void attribute(Chain out, Key key, double value) {
    int at = startNumber(out, key, 1 + Double.BYTES);
    if (at < 0) {
      OtlpValues.putEntry(out, ATTRIBUTES, key.name(), value);
      return;
    }
    byte[] to = out.bytes();
    to[at] = (byte) tag(4, FIXED64);
    out.endAt(Protobuf.putFixed64(to, at + 1, Double.doubleToRawLongBits(value)));
  }

  @Override
  public void attribute(Chain out, Key key, boolean value) {
    int at = startNumber(out, key, 2);
    if (at < 0) {
      OtlpValues.putEntry(out, ATTRIBUTES, key.name(), value);
      return;
    }
    byte[] to = out.bytes();
    to[at] = (byte) tag(2, VARINT);
    to[at + 1] = (byte) (value ? 1 : 0);
    out.endAt(at + 2);
  }

  @Override
  public void attribute(Chain out, Key key, Object value) {
    OtlpValues.putEntry(out, ATTRIBUTES, key.name(), value);
  }

  /**
   * Writes all of an attribute up to its value, and makes room for a number.
   *
   * @return where the value follows; negative if the key is too long for one piece
   */
  private static int startNumber(Chain out, Key key, int anyBytes) {
    int entryBytes = key.length() + 1 + anyBytes;
    if (entryBytes > MOST_ENTRY_BYTES) {
      return -1;
    }
    int at = out.reserve(3 + entryBytes + Key.SHORT);
    return putKey(out.bytes(), at, key, entryBytes, anyBytes);
  }

  private static int putKey(byte[] to, int at, Key key, int entryBytes, int anyBytes) {
    to[at] = (byte) tag(ATTRIBUTES, BYTES);
    int start = putShortLength(to, at + 1, entryBytes);
    return putShortLength(to, key.put(to, start), anyBytes);
  }

  @Override
  public void event(Chain out, long epochNanos, String name, Attributes attributes, int dropped) {
    int bytes =
        1
            + Long.BYTES
            + Protobuf.textSize(name)
            + OtlpValues.entriesSize(attributes)
            + Protobuf.countSize(dropped);
    int start = out.length();
    try {
      out.put(tag(11, BYTES));
      out.putVarint(bytes);
      out.put(tag(1, FIXED64));
      out.putFixed64(epochNanos);
      Protobuf.putText(out, 2, name);
      putEntries(out, 3, attributes);
      Protobuf.putCount(out, 4, dropped);
    } finally {
      out.endField(start, bytesSize(bytes));
    }
  }

  @Override
  public void link(Chain out, SpanContext context, Attributes attributes, int dropped) {
    String state = traceState(context.getTraceState());
    int bytes =
        bytesSize(16)
            + bytesSize(8)
            + Protobuf.textSize(state)
            + OtlpValues.entriesSize(attributes)
            + Protobuf.countSize(dropped)
            + 1
            + Integer.BYTES;
    int start = out.length();
    try {
      out.put(tag(13, BYTES));
      out.putVarint(bytes);
      out.put(tag(1, BYTES));
      out.put(16);
      out.put(context.getTraceIdBytes());
      out.put(tag(2, BYTES));
      out.put(8);
      out.put(context.getSpanIdBytes());
      Protobuf.putText(out, 3, state);
      putEntries(out, 4, attributes);
      Protobuf.putCount(out, 5, dropped);
      out.put(tag(6, FIXED32));
      out.putFixed32(flags(context.getTraceFlags().asByte() & 0xff, context.isRemote()));
    } finally {
      out.endField(start, bytesSize(bytes));
    }
  }

  /** The value of the header {@code tracestate}; empty if there is none. */
  static String traceState(TraceState state) {
    if (state.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    state.forEach((key, value) ->
        text.append(text.isEmpty() ? "" : ",").append(key).append('=').append(value));
    return text.toString();
  }

  private static void putEntries(Chain out, int field, Attributes attributes) {
    attributes.forEach((AttributeKey<?> key, Object value) ->
        OtlpValues.putEntry(out, field, key.getKey(), value));
  }

  @Override
  public void end(
      Recording span, String name, long epochNanos, StatusCode status, String description) {
    Chain out = span.chain;
    Protobuf.putText(out, 5, name);
    if (span.droppedAny()) {
      Protobuf.putCount(out, 10, span.droppedAttributes());
      Protobuf.putCount(out, 12, span.droppedEvents());
      Protobuf.putCount(out, 14, span.droppedLinks());
    }
    int at = out.reserve(END_BYTES);
    byte[] to = out.bytes();
    to[at] = (byte) tag(8, FIXED64);
    at = Protobuf.putFixed64(to, at + 1, epochNanos);
    if (description.isEmpty()) {
      out.endAt(putStatus(to, at, status));
      return;
    }
    out.endAt(at);
    out.put(tag(15, BYTES));
    out.putVarint(Protobuf.textSize(description) + Protobuf.countSize(status.ordinal()));
    Protobuf.putText(out, 2, description);
    Protobuf.putCount(out, 3, status.ordinal());
  }

  /** Without a description. The SDK too sends a status that is not set, as an empty message. */
  private static int putStatus(byte[] to, int at, StatusCode status) {
    to[at] = (byte) tag(15, BYTES);
    if (status == StatusCode.UNSET) {
      to[at + 1] = 0;
      return at + 2;
    }
    to[at + 1] = 2;
    to[at + 2] = (byte) tag(3, VARINT);
    to[at + 3] = (byte) status.ordinal();
    return at + 4;
  }

  private static byte[] resource(Attributes attributes) {
    return Protobuf.encoded(out -> {
      if (!attributes.isEmpty()) {
        out.put(tag(1, BYTES));
        out.putVarint(OtlpValues.entriesSize(attributes));
        putEntries(out, 1, attributes);
      }
    });
  }

  @Override
  public byte[] scope(Scope scope) {
    String version = scope.version() == null ? "" : scope.version();
    return Protobuf.encoded(out -> {
      out.put(tag(1, BYTES));
      out.putVarint(Protobuf.textSize(scope.name()) + Protobuf.textSize(version));
      Protobuf.putText(out, 1, scope.name());
      Protobuf.putText(out, 2, version);
      Protobuf.putText(out, 3, scope.schemaUrl() == null ? "" : scope.schemaUrl());
    });
  }

  /** A span of ScopeSpans. */
  @Override
  public int spanTag() {
    return tag(2, BYTES);
  }

  @Override
  public int groupHeadSize(byte[] scope, int bytes) {
    return bytesSize(resourceSpansBytes(scope, bytes)) - bytes;
  }

  private int resourceSpansBytes(byte[] scope, int bytes) {
    return resource.length + bytesSize(scope.length + bytes);
  }

  /** ResourceSpans and ScopeSpans, up to the first span. */
  @Override
  public void putGroupHead(ByteBuffer out, byte[] scope, int bytes) {
    out.put((byte) tag(1, BYTES));
    Protobuf.putVarint(out, resourceSpansBytes(scope, bytes));
    out.put(resource);
    out.put((byte) tag(2, BYTES));
    Protobuf.putVarint(out, scope.length + bytes);
    out.put(scope);
  }
}
