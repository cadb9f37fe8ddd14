package tollbooth.telemetry.streaming;

import static tollbooth.telemetry.streaming.Protobuf.BYTES;
import static tollbooth.telemetry.streaming.Protobuf.FIXED64;
import static tollbooth.telemetry.streaming.Protobuf.VARINT;
import static tollbooth.telemetry.streaming.Protobuf.tag;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Zipkin's protobuf, which shows that the tracer does not depend on OTLP. It has no place for
 * links, for attributes of events, nor for what was dropped.
 */
final class ZipkinFormat implements WireFormat {

  /** IDs of the trace, the parent and the span. */
  private static final int ID_BYTES = 18 + 10 + 10;

  private final byte[] endpoint;
  private final Keys keys = new Keys(ZipkinFormat::encodedKey);

  /**
   * A format for the spans of one service.
   *
   * @param service its name
   */
  ZipkinFormat(String service) {
    endpoint = Protobuf.encoded(out -> Protobuf.putText(out, 1, service));
  }

  @Override
  public void start(
      Chain out,
      StreamingSpan span,
      long parentId,
      boolean parentIsRemote,
      SpanKind kind,
      long epochNanos) {
    int at = out.reserve(ID_BYTES);
    byte[] to = out.bytes();
    at = Protobuf.putId(to, at, 1, span.traceHigh(), span.traceLow());
    if (parentId != 0) {
      at = Protobuf.putId(to, at, 2, parentId);
    }
    out.endAt(Protobuf.putId(to, at, 3, span.id()));
    Protobuf.putCount(out, 4, kind(kind));
    out.put(tag(6, FIXED64));
    out.putFixed64(TimeUnit.NANOSECONDS.toMicros(epochNanos));
    out.put(tag(8, BYTES));
    out.putVarint(endpoint.length);
    out.put(endpoint);
  }

  private static int kind(SpanKind kind) {
    return switch (kind) {
      case INTERNAL -> 0;
      case CLIENT -> 1;
      case SERVER -> 2;
      case PRODUCER -> 3;
      case CONSUMER -> 4;
    };
  }

  @Override
  public Key key(String name) {
    return keys.get(name);
  }

  private static byte[] encodedKey(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer encoded = ByteBuffer.allocate(Protobuf.bytesSize(text.length));
    encoded.put((byte) tag(1, BYTES));
    Protobuf.putVarint(encoded, text.length);
    return encoded.put(text).array();
  }

  /** A tag: an entry of a map from text to text. */
  @Override
  public void attribute(Chain out, Key key, String value) {
    out.put(tag(11, BYTES));
    out.putVarint(key.length() + Protobuf.textSize(value));
    out.put(key.bytes());
    Protobuf.putText(out, 2, value);
  }

  @Override
  public void attribute(Chain out, Key key, long value) {
    attribute(out, key, Long.toString(value));
  }

  @Override
  public void attribute(Chain out, Key key, double value) {
    attribute(out, key, Double.toString(value));
  }

  @Override
  public void attribute(Chain out, Key key, boolean value) {
    attribute(out, key, Boolean.toString(value));
  }

  @Override
  public void attribute(Chain out, Key key, Object value) {
    attribute(out, key, value.toString());
  }

  /** An annotation. */
  @Override
  public void event(Chain out, long epochNanos, String name, Attributes attributes, int dropped) {
    out.put(tag(10, BYTES));
    out.putVarint(1 + Long.BYTES + Protobuf.textSize(name));
    out.put(tag(1, FIXED64));
    out.putFixed64(TimeUnit.NANOSECONDS.toMicros(epochNanos));
    Protobuf.putText(out, 2, name);
  }

  @Override
  public void link(Chain out, SpanContext context, Attributes attributes, int dropped) {}

  @Override
  public void end(
      Recording span, String name, long epochNanos, StatusCode status, String description) {
    Chain out = span.chain;
    Protobuf.putText(out, 5, name);
    long micros = TimeUnit.NANOSECONDS.toMicros(epochNanos - span.startEpochNanos);
    out.put(tag(7, VARINT));
    out.putVarint(Math.max(1, micros));
    if (status != StatusCode.UNSET) {
      attribute(out, key("otel.status_code"), status.name());
    }
    if (status == StatusCode.ERROR) {
      attribute(out, key("error"), description);
    }
  }

  @Override
  public byte[] scope(Scope scope) {
    return new byte[0];
  }

  /** A span of ListOfSpans, which has no groups. */
  @Override
  public int spanTag() {
    return tag(1, BYTES);
  }

  @Override
  public int groupHeadSize(byte[] scope, int bytes) {
    return 0;
  }

  @Override
  public void putGroupHead(ByteBuffer out, byte[] scope, int bytes) {}
}
