package tollbooth.telemetry.streaming;

import static tollbooth.telemetry.streaming.Protobuf.BYTES;
import static tollbooth.telemetry.streaming.Protobuf.FIXED32;
import static tollbooth.telemetry.streaming.Protobuf.FIXED64;
import static tollbooth.telemetry.streaming.Protobuf.VARINT;
import static tollbooth.telemetry.streaming.Protobuf.bytesSize;
import static tollbooth.telemetry.streaming.Protobuf.tag;
import static tollbooth.telemetry.streaming.Protobuf.varintSize;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceState;
import java.nio.ByteBuffer;

/** OTLP, as protobuf. A span is the message Span without its length. */
final class OtlpFormat implements WireFormat {

  private static final int HAS_REMOTE = 0x100;
  private static final int IS_REMOTE = 0x200;

  /** Fields of Span. */
  private static final int ATTRIBUTES = 9;

  private final byte[] resource;

  /**
   * A format for the spans of one resource.
   *
   * @param schemaUrl the resource's; null if it has none
   */
  OtlpFormat(Attributes resource, String schemaUrl) {
    this.resource = resource(resource, schemaUrl);
  }

  @Override
  public String contentType() {
    return "application/x-protobuf";
  }

  @Override
  public void start(Chain out, Start start) {
    Protobuf.putId(out, 1, start.traceHigh(), start.traceLow());
    Protobuf.putId(out, 2, start.id());
    Protobuf.putText(out, 3, start.traceState());
    if (start.parentId() != 0) {
      Protobuf.putId(out, 4, start.parentId());
    }
    out.put(tag(6, VARINT));
    out.put(kind(start.kind()));
    out.put(tag(7, FIXED64));
    out.putFixed64(start.epochNanos());
    // A field number above 15: two bytes of tag.
    out.putVarint(tag(16, FIXED32));
    out.putFixed32(flags(start.flags(), start.parentIsRemote()));
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
  public void attribute(Chain out, String key, String value) {
    int keyBytes = Utf8.length(key);
    int valueBytes = Utf8.length(value);
    int anyBytes = bytesSize(valueBytes);
    putKey(out, key, keyBytes, anyBytes);
    out.put(tag(1, BYTES));
    out.putVarint(valueBytes);
    out.putText(value, valueBytes);
  }

  @Override
  public void attribute(Chain out, String key, long value) {
    putKey(out, key, Utf8.length(key), 1 + varintSize(value));
    out.put(tag(3, VARINT));
    out.putVarint(value);
  }

  @Override
  public void attribute(Chain out, String key, double value) {
    putKey(out, key, Utf8.length(key), 1 + Double.BYTES);
    out.put(tag(4, FIXED64));
    out.putFixed64(Double.doubleToRawLongBits(value));
  }

  @Override
  public void attribute(Chain out, String key, boolean value) {
    putKey(out, key, Utf8.length(key), 2);
    out.put(tag(2, VARINT));
    out.put(value ? 1 : 0);
  }

  @Override
  public void attribute(Chain out, String key, Object value) {
    OtlpValues.putEntry(out, ATTRIBUTES, key, value);
  }

  /** All of an attribute up to its value. */
  private static void putKey(Chain out, String key, int keyBytes, int anyBytes) {
    out.put(tag(ATTRIBUTES, BYTES));
    out.putVarint(bytesSize(keyBytes) + bytesSize(anyBytes));
    out.put(tag(1, BYTES));
    out.putVarint(keyBytes);
    out.putText(key, keyBytes);
    out.put(tag(2, BYTES));
    out.putVarint(anyBytes);
  }

  @Override
  public void event(Chain out, long epochNanos, String name, Attributes attributes, int dropped) {
    out.put(tag(11, BYTES));
    out.putVarint(
        1
            + Long.BYTES
            + Protobuf.textSize(name)
            + OtlpValues.entriesSize(attributes)
            + Protobuf.countSize(dropped));
    out.put(tag(1, FIXED64));
    out.putFixed64(epochNanos);
    Protobuf.putText(out, 2, name);
    putEntries(out, 3, attributes);
    Protobuf.putCount(out, 4, dropped);
  }

  @Override
  public void link(Chain out, SpanContext context, Attributes attributes, int dropped) {
    String state = traceState(context.getTraceState());
    out.put(tag(13, BYTES));
    out.putVarint(
        bytesSize(16)
            + bytesSize(8)
            + Protobuf.textSize(state)
            + OtlpValues.entriesSize(attributes)
            + Protobuf.countSize(dropped)
            + 1
            + Integer.BYTES);
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
  public void end(Chain out, End end) {
    Protobuf.putText(out, 5, end.name());
    out.put(tag(8, FIXED64));
    out.putFixed64(end.epochNanos());
    Protobuf.putCount(out, 10, end.droppedAttributes());
    Protobuf.putCount(out, 12, end.droppedEvents());
    Protobuf.putCount(out, 14, end.droppedLinks());
    int status = end.status().ordinal();
    // The SDK too sends a status that is not set, as an empty message.
    out.put(tag(15, BYTES));
    out.putVarint(Protobuf.textSize(end.description()) + Protobuf.countSize(status));
    Protobuf.putText(out, 2, end.description());
    Protobuf.putCount(out, 3, status);
  }

  private static byte[] resource(Attributes attributes, String schemaUrl) {
    return Protobuf.encoded(out -> {
      if (!attributes.isEmpty()) {
        out.put(tag(1, BYTES));
        out.putVarint(OtlpValues.entriesSize(attributes));
        putEntries(out, 1, attributes);
      }
      Protobuf.putText(out, 3, schemaUrl == null ? "" : schemaUrl);
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
