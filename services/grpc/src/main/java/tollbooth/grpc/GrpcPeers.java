package tollbooth.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.grpc.client.ChannelBuilderOptions;
import org.springframework.grpc.client.GrpcChannelFactory;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.proto.ServiceGrpc;
import tollbooth.web.PeerAddresses;
import tollbooth.web.PeerFailedException;
import tollbooth.web.PeerProtocol;
import tollbooth.workload.CallHead;
import tollbooth.workload.Target;

/** Calls nodes of kind svc-b. One open channel for each; no thread waits for an answer. */
final class GrpcPeers implements PeerProtocol {

  private static final Duration SHUTDOWN_GRACE_PERIOD = Duration.ofSeconds(1);

  private final GrpcChannelFactory factory;
  private final PeerAddresses addresses;
  private final Optional<InetSocketAddress> proxy;
  private final Map<String, Channel> channels = new ConcurrentHashMap<>();

  GrpcPeers(
      GrpcChannelFactory factory, PeerAddresses addresses, Optional<InetSocketAddress> proxy) {
    this.factory = factory;
    this.addresses = addresses;
    this.proxy = proxy;
  }

  @Override
  public byte[] call(Target target, CallHead head) {
    try {
      return json(start(target, head).join());
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof PeerFailedException peer ? peer : failed;
    }
  }

  /** Cancelling the result cancels the call. */
  @Override
  public CompletableFuture<MockResponse> start(Target target, CallHead head) {
    Channel channel =
        ClientInterceptors.intercept(
            channels.computeIfAbsent(target.node(), this::open),
            MetadataUtils.newAttachHeadersInterceptor(GrpcHead.metadata(target, head)));
    ClientCall<MockRequest, MockResponse> call =
        channel.newCall(ServiceGrpc.getMockMethod(), CallOptions.DEFAULT);
    Answer answer = new Answer(target);
    ClientCalls.asyncUnaryCall(call, GrpcHead.message(head), answer);
    answer.whenComplete((response, failure) -> {
      if (answer.isCancelled()) {
        call.cancel("the caller cancelled its request", null);
      }
    });
    return answer;
  }

  /** The peer's complete answer. */
  private static final class Answer extends CompletableFuture<MockResponse>
      implements StreamObserver<MockResponse> {

    private final Target target;
    private MockResponse response;

    Answer(Target target) {
      this.target = target;
    }

    @Override
    public void onNext(MockResponse message) {
      response = message;
    }

    @Override
    public void onError(Throwable failure) {
      Status status = Status.fromThrowable(failure);
      String said = status.getDescription() == null ? "" : ": " + status.getDescription();
      completeExceptionally(new PeerFailedException(target, "answered " + status.getCode() + said));
    }

    @Override
    public void onCompleted() {
      complete(response);
    }
  }

  private Channel open(String node) {
    URI address = addresses.of(node);
    String authority = address.getHost() + ":" + address.getPort();
    String listening = proxy.map(at -> at.getHostString() + ":" + at.getPort()).orElse(authority);
    ChannelBuilderOptions options =
        ChannelBuilderOptions.defaults()
            .withShutdownGracePeriod(SHUTDOWN_GRACE_PERIOD)
            // No callback blocks, so no executor is needed. Retries are the proxies' task.
            .<NettyChannelBuilder>withCustomizer((target, builder) ->
                builder.overrideAuthority(authority).directExecutor().disableRetry());
    return factory.createChannel("dns:///" + listening, options);
  }

  /** The JSON that a REST service answers with. Names need no escapes. */
  private static byte[] json(MockResponse response) {
    String json =
        "{\"node\":\"%s\",\"operation\":\"%s\",\"calls\":%d}"
            .formatted(response.getNode(), response.getOperation(), response.getCalls());
    return json.getBytes(StandardCharsets.UTF_8);
  }
}
