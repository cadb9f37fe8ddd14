package tollbooth.benchmarks.spans;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/** Reads OTLP's calls of gRPC, discards them and answers with success. */
final class GrpcBackend implements Backend {

  private static final String SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";

  private final CountedThreads threads = new CountedThreads();
  private final AtomicLong bodyBytes = new AtomicLong();
  private final EventLoopGroup loop = new NioEventLoopGroup(1, threads);
  private final Server server;

  GrpcBackend() {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    server =
        NettyServerBuilder.forAddress(anyPort)
            .channelType(NioServerSocketChannel.class)
            .bossEventLoopGroup(loop)
            .workerEventLoopGroup(loop)
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .addStreamTracerFactory(new Tracers())
            .addService(service())
            .build();
    try {
      server.start();
    } catch (IOException noPort) {
      throw new UncheckedIOException(noPort);
    }
  }

  private static ServerServiceDefinition service() {
    MethodDescriptor<Boolean, Boolean> export =
        MethodDescriptor.<Boolean, Boolean>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Export"))
            .setRequestMarshaller(new Discarding())
            .setResponseMarshaller(new Discarding())
            .build();
    return ServerServiceDefinition.builder(SERVICE)
        .addMethod(
            export,
            ServerCalls.asyncUnaryCall((request, answer) -> {
              answer.onNext(true);
              answer.onCompleted();
            }))
        .build();
  }

  @Override
  public String url() {
    return "http://localhost:" + server.getPort();
  }

  @Override
  public long bodyBytes() {
    return bodyBytes.get();
  }

  @Override
  public long cpuNs() {
    return threads.cpuNs();
  }

  @Override
  public void close() {
    server.shutdownNow();
    loop.shutdownGracefully();
  }

  /** A message whose bytes do not matter. */
  private static final class Discarding implements MethodDescriptor.Marshaller<Boolean> {

    @Override
    public InputStream stream(Boolean any) {
      return new ByteArrayInputStream(new byte[0]);
    }

    @Override
    public Boolean parse(InputStream bytes) {
      try {
        return bytes.transferTo(OutputStream.nullOutputStream()) > 0;
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }
  }

  /** Count bytes as they were sent. */
  private final class Tracers extends ServerStreamTracer.Factory {

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
      return new ServerStreamTracer() {
        @Override
        public void inboundWireSize(long bytes) {
          bodyBytes.addAndGet(bytes);
        }
      };
    }
  }
}
