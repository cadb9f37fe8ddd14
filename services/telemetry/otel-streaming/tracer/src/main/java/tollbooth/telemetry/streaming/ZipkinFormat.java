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
import java.util.concurrent.TimeUnit;

/**
 * Zipkin's protobuf, which shows that the tracer does not depend on OTLP. It has no place for
 * links, for attributes of events, nor for what was dropped.
 */
final class ZipkinFormat implements WireFormat {

  private final byte[] endpoint;

  /**
   * A format for the spans of one service.
   *
   * @param service its name
   */
  ZipkinFormat(String service) {
    endpoint = Protobuf.encoded(out -> Protobuf.putText(out, 1, service));
  }

  @Override
  public String contentType() {
    return "application/x-protobuf";
  }

  @Override
  public void start(Chain out, Start start) {
    Protobuf.putId(out, 1, start.traceHigh(), start.traceLow());
    if (start.parentId() != 0) {
      Protobuf.putId(out, 2, start.parentId());
    }
    Protobuf.putId(out, 3, start.id());
    Protobuf.putCount(out, 4, kind(start.kind()));
    out.put(tag(6, FIXED64));
    out.putFixed64(TimeUnit.NANOSECONDS.toMicros(start.epochNanos()));
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

  /** A tag: an entry of a map from text to text. */
  @Override
  public void attribute(Chain out, String key, String value) {
    out.put(tag(11, BYTES));
    out.putVarint(Protobuf.textSize(key) + Protobuf.textSize(value));
    Protobuf.putText(out, 1, key);
    Protobuf.putText(out, 2, value);
  }

  @Override
  public void attribute(Chain out, String key, long value) {
    attribute(out, key, Long.toString(value));
  }

  @Override
  public void attribute(Chain out, String key, double value) {
    attribute(out, key, Double.toString(value));
  }

  @Override
  public void attribute(Chain out, String key, boolean value) {
    attribute(out, key, Boolean.toString(value));
  }

  @Override
  public void attribute(Chain out, String key, Object value) {
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
  public void end(Chain out, End end) {
    Protobuf.putText(out, 5, end.name());
    long micros = TimeUnit.NANOSECONDS.toMicros(end.epochNanos() - end.startEpochNanos());
    out.put(tag(7, VARINT));
    out.putVarint(Math.max(1, micros));
    if (end.status() != StatusCode.UNSET) {
      attribute(out, "otel.status_code", end.status().name());
    }
    if (end.status() == StatusCode.ERROR) {
      attribute(out, "error", end.description());
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
