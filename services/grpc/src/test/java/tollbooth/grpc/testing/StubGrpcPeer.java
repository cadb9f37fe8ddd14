package tollbooth.grpc.testing;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import tollbooth.grpc.GrpcHead;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.proto.ServiceGrpc;
import tollbooth.web.PeerAddresses;
import tollbooth.workload.CallPath;

/** A stub for every gRPC peer: records calls, answers with a fixed status. */
public final class StubGrpcPeer extends ServiceGrpc.ServiceImplBase
    implements ServerInterceptor, AutoCloseable {

  private static final Metadata.Key<String> PATH =
      Metadata.Key.of(CallPath.HEADER, Metadata.ASCII_STRING_MARSHALLER);

  private final Server server;
  private final Status status;
  private final int together;
  private final List<StreamObserver<MockResponse>> waiting = new ArrayList<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final List<String> authorities = new CopyOnWriteArrayList<>();
  private final List<MockRequest> messages = new CopyOnWriteArrayList<>();
  private final AtomicInteger cancelled = new AtomicInteger();

  private StubGrpcPeer(Status status, int together) throws IOException {
    this.status = status;
    this.together = together;
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(this)
            .intercept(this)
            .build()
            .start();
  }

  /** Answers every request with this status. */
  public static StubGrpcPeer answering(Status status) throws IOException {
    return new StubGrpcPeer(status, 1);
  }

  /** Answers only when this many requests wait for an answer at the same time. */
  public static StubGrpcPeer answeringTogether(int requests) throws IOException {
    return new StubGrpcPeer(Status.OK, requests);
  }

  /** Never answers. */
  public static StubGrpcPeer hanging() throws IOException {
    return new StubGrpcPeer(Status.OK, Integer.MAX_VALUE);
  }

  /** The calls in order: operation and call path, such as {@code answer 17.0}. */
  public List<String> calls() {
    return calls;
  }

  /** The host and port that each request was meant for. */
  public List<String> authorities() {
    return authorities;
  }

  /** Each request's message, in order. */
  public List<MockRequest> messages() {
    return messages;
  }

  /** How many requests were given up by whoever calls. */
  public int cancelled() {
    return cancelled.get();
  }

  /** Every node is here. */
  public PeerAddresses addresses() {
    return node -> URI.create("http://localhost:" + server.getPort());
  }

  /** Where it listens. */
  public InetSocketAddress listensAt() {
    return InetSocketAddress.createUnresolved("localhost", server.getPort());
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
    calls.add(metadata.get(GrpcHead.OPERATION) + " " + metadata.get(PATH));
    authorities.add(call.getAuthority());
    return next.startCall(call, metadata);
  }

  @Override
  public void mock(MockRequest request, StreamObserver<MockResponse> observer) {
    messages.add(request);
    ((ServerCallStreamObserver<MockResponse>) observer)
        .setOnCancelHandler(cancelled::incrementAndGet);
    arrive(observer);
  }

  private synchronized void arrive(StreamObserver<MockResponse> observer) {
    waiting.add(observer);
    if (waiting.size() >= together) {
      waiting.forEach(this::answer);
      waiting.clear();
    }
  }

  private void answer(StreamObserver<MockResponse> observer) {
    if (!status.isOk()) {
      observer.onError(status.asRuntimeException());
      return;
    }
    observer.onNext(MockResponse.newBuilder().setNode("stub").setOperation("any").build());
    observer.onCompleted();
  }
}
