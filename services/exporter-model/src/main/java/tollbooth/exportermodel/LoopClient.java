package tollbooth.exportermodel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpUtil;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** Sends requests to one host on the event loop, over connections that it keeps. */
final class LoopClient {

  static final int MAX_BODY = 64 * 1024;

  private final Bootstrap bootstrap;
  private final Deque<Channel> idle = new ArrayDeque<>();

  LoopClient(EventLoopGroup loop, InetSocketAddress to) {
    bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .remoteAddress(to)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpClientCodec(), new HttpObjectAggregator(MAX_BODY), new Reply());
                  }
                });
  }

  /** Sends a request, which it releases. {@code answered} gets the answer, or null without one. */
  void send(FullHttpRequest request, Consumer<FullHttpResponse> answered) {
    for (Channel kept = idle.pollLast(); kept != null; kept = idle.pollLast()) {
      if (kept.isActive()) {
        write(kept, request, answered);
        return;
      }
    }
    bootstrap
        .connect()
        .addListener((ChannelFuture connected) -> {
          if (connected.isSuccess()) {
            write(connected.channel(), request, answered);
          } else {
            request.release();
            answered.accept(null);
          }
        });
  }

  private static void write(
      Channel channel, FullHttpRequest request, Consumer<FullHttpResponse> answered) {
    channel.pipeline().get(Reply.class).waiting = answered;
    channel.writeAndFlush(request).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
  }

  /** One connection's answers. */
  private final class Reply extends SimpleChannelInboundHandler<FullHttpResponse> {

    private Consumer<FullHttpResponse> waiting;

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpResponse answer) {
      if (HttpUtil.isKeepAlive(answer)) {
        idle.addLast(context.channel());
      } else {
        context.close();
      }
      finish(answer);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      finish(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable broken) {
      context.close();
    }

    private void finish(FullHttpResponse answer) {
      Consumer<FullHttpResponse> answered = waiting;
      waiting = null;
      if (answered != null) {
        answered.accept(answer);
      }
    }
  }
}
