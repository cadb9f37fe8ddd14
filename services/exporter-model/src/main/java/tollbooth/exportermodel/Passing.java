package tollbooth.exportermodel;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;

/** Passes the requests of one connection to the server, and makes a span of each. */
final class Passing extends SimpleChannelInboundHandler<FullHttpRequest> {

  private final LoopClient server;
  private final SpanExporter exporter;
  private final Counters counters;

  Passing(LoopClient server, SpanExporter exporter, Counters counters) {
    this.server = server;
    this.exporter = exporter;
    this.counters = counters;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext client, FullHttpRequest request) {
    SpanMaker span = new SpanMaker(request);
    boolean kept = HttpUtil.isKeepAlive(request);
    request.headers().remove(HttpHeaderNames.CONNECTION);
    request.headers().set("traceparent", span.traceparent());
    server.send(
        request.retain(),
        answer -> answer(client, span, kept, answer == null ? none() : answer.retain()));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext client, Throwable broken) {
    client.close();
  }

  /** The answer is on its way before the span can begin an export. */
  private void answer(
      ChannelHandlerContext client, SpanMaker span, boolean kept, FullHttpResponse answer) {
    int status = answer.status().code();
    int bytes = answer.content().readableBytes();
    HttpUtil.setContentLength(answer, bytes);
    HttpUtil.setKeepAlive(answer, kept);
    ChannelFuture written = client.writeAndFlush(answer);
    if (!kept) {
      written.addListener(ChannelFutureListener.CLOSE);
    }
    counters.requests.increment();
    exporter.add(span.end(status, bytes, String.valueOf(client.channel().remoteAddress())));
  }

  private static FullHttpResponse none() {
    return new DefaultFullHttpResponse(
        HttpVersion.HTTP_1_1, HttpResponseStatus.SERVICE_UNAVAILABLE);
  }
}
