package tollbooth.grpc.testing;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.proto.ServiceGrpc;
import tollbooth.web.testing.RunningNode;

/** A client of a running svc-b, as the load generator is one. */
public final class GrpcCaller implements AutoCloseable {

  private static final int SECONDS = 20;

  private final ManagedChannel channel;

  private GrpcCaller(URI address) {
    channel =
        NettyChannelBuilder.forAddress(address.getHost(), address.getPort())
            .usePlaintext()
            .directExecutor()
            .build();
  }

  /** A client of this node. */
  public static GrpcCaller of(RunningNode node) {
    return new GrpcCaller(address(node));
  }

  /** Where a node listens for gRPC. */
  public static URI address(RunningNode node) {
    return URI.create("http://localhost:" + node.bean(GrpcServerLifecycle.class).getPort());
  }

  /**
   * Sends one request and waits for the answer.
   *
   * @param metadata a name, its value, a name, its value
   * @throws io.grpc.StatusRuntimeException where the answer is an error
   */
  public MockResponse call(MockRequest request, String... metadata) {
    Metadata headers = new Metadata();
    for (int i = 0; i < metadata.length; i += 2) {
      headers.put(Metadata.Key.of(metadata[i], Metadata.ASCII_STRING_MARSHALLER), metadata[i + 1]);
    }
    return ServiceGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .withDeadlineAfter(SECONDS, TimeUnit.SECONDS)
        .mock(request);
  }

  /** For requests without waiting. */
  public ServiceGrpc.ServiceFutureStub starting() {
    return ServiceGrpc.newFutureStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
