package tollbooth.exportermodel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The proxy: one event loop accepts, passes on and answers, and has the exporter. */
public final class ExporterModel implements AutoCloseable {

  private static final int WRONG_SETTING = 2;

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final SpanExporter exporter;
  private final Channel proxy;
  private final Admin admin;

  ExporterModel(Settings settings) throws IOException {
    Counters counters = new Counters();
    exporter = settings.design().exporter(settings, loop, counters);
    LoopClient server = new LoopClient(loop, settings.server());
    proxy = listen(settings.port(), () -> new Passing(server, exporter, counters));
    int everyMs = settings.flushIntervalMs();
    loop.scheduleAtFixedRate(() -> tick(counters), everyMs, everyMs, TimeUnit.MILLISECONDS);
    // Last: whoever reads its page finds the proxy listening.
    admin = new Admin(settings.adminPort(), counters);
  }

  /** Starts the model that the environment describes. */
  public static void main(String[] arguments) throws IOException {
    try {
      new ExporterModel(Settings.of(System.getenv()));
    } catch (IllegalArgumentException wrong) {
      System.err.println("exporter-model: " + wrong.getMessage());
      System.exit(WRONG_SETTING);
    }
  }

  int port() {
    return ((InetSocketAddress) proxy.localAddress()).getPort();
  }

  int adminPort() {
    return admin.port();
  }

  @Override
  public void close() {
    admin.close();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    exporter.close();
  }

  private void tick(Counters counters) {
    exporter.flush();
    counters.timerFlushes.increment();
  }

  private Channel listen(int port, Supplier<Passing> passing) {
    return new ServerBootstrap()
        .group(loop)
        .channel(NioServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(
                        new HttpServerCodec(),
                        new HttpObjectAggregator(LoopClient.MAX_BODY),
                        passing.get());
              }
            })
        .bind(port)
        .syncUninterruptibly()
        .channel();
  }
}
