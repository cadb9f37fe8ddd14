package tollbooth.exportermodel;

import com.google.protobuf.ByteString;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

/** Makes one request's span, with as many attributes as Envoy's tracer sets. */
final class SpanMaker {

  private static final long SECOND_NS = 1_000_000_000;

  private final long traceHigh = ThreadLocalRandom.current().nextLong();
  private final long traceLow = ThreadLocalRandom.current().nextLong();
  private final long spanId = ThreadLocalRandom.current().nextLong();
  private final long startNs = nowNs();
  private final HttpRequest request;

  /** The span begins now. */
  SpanMaker(HttpRequest request) {
    this.request = request;
  }

  /** Returns the {@code traceparent} for whoever gets the request next. */
  String traceparent() {
    return "00-%016x%016x-%016x-01".formatted(traceHigh, traceLow, spanId);
  }

  /** Returns the span, which ends now. */
  Span end(int status, int answerBytes, String peer) {
    return Span.newBuilder()
        .setTraceId(bytes(traceHigh, traceLow))
        .setSpanId(bytes(spanId))
        .setName("ingress")
        .setKind(Span.SpanKind.SPAN_KIND_SERVER)
        .setStartTimeUnixNano(startNs)
        .setEndTimeUnixNano(nowNs())
        .addAttributes(text("component", "proxy"))
        .addAttributes(text("node_id", "exporter-model"))
        .addAttributes(text("zone", ""))
        .addAttributes(text("http.method", request.method().name()))
        .addAttributes(text("http.url", header(HttpHeaderNames.HOST) + request.uri()))
        .addAttributes(text("http.protocol", request.protocolVersion().text()))
        .addAttributes(text("user_agent", header(HttpHeaderNames.USER_AGENT)))
        .addAttributes(text("peer.address", peer))
        .addAttributes(text("downstream_cluster", "-"))
        .addAttributes(text("upstream_cluster", "testserver"))
        .addAttributes(text("http.status_code", Integer.toString(status)))
        .addAttributes(text("request_size", "0"))
        .addAttributes(text("response_size", Integer.toString(answerBytes)))
        .addAttributes(text("response_flags", "-"))
        .build();
  }

  private String header(CharSequence name) {
    return request.headers().get(name, "");
  }

  private static KeyValue text(String key, String value) {
    return Attributes.text(key, value);
  }

  private static ByteString bytes(long... parts) {
    ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES * parts.length);
    for (long part : parts) {
      buffer.putLong(part);
    }
    return ByteString.copyFrom(buffer.flip());
  }

  private static long nowNs() {
    Instant now = Instant.now();
    return now.getEpochSecond() * SECOND_NS + now.getNano();
  }
}
