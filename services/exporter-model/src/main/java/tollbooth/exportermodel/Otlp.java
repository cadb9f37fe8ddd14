package tollbooth.exportermodel;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.InetSocketAddress;
import java.util.List;

/** OTLP over HTTP: an export of spans. */
final class Otlp {

  static final String PATH = "/v1/traces";
  static final String CONTENT_TYPE = "application/x-protobuf";

  private static final Resource RESOURCE =
      Resource.newBuilder()
          .addAttributes(Attributes.text("service.name", "exporter-model"))
          .build();

  private Otlp() {}

  /** Returns the body of an export. */
  static byte[] body(List<Span> spans) {
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(
            ResourceSpans.newBuilder()
                .setResource(RESOURCE)
                .addScopeSpans(ScopeSpans.newBuilder().addAllSpans(spans)))
        .build()
        .toByteArray();
  }

  /** Returns an export as a request of Netty's. */
  static FullHttpRequest request(InetSocketAddress receiver, List<Span> spans) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1, HttpMethod.POST, PATH, Unpooled.wrappedBuffer(body(spans)));
    request.headers().set(HttpHeaderNames.HOST, host(receiver));
    request.headers().set(HttpHeaderNames.CONTENT_TYPE, CONTENT_TYPE);
    HttpUtil.setContentLength(request, request.content().readableBytes());
    return request;
  }

  /** Returns an address as a URL has it. */
  static String host(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }
}
