package tollbooth.svcb;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import tollbooth.grpc.GrpcHead;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.proto.ServiceGrpc;
import tollbooth.web.NodeFault;
import tollbooth.web.PeerFailedException;
import tollbooth.workload.Behaviour;
import tollbooth.workload.Task;
import tollbooth.workload.UnknownOperationException;

/** The gRPC side of a service. */
final class MockService extends ServiceGrpc.ServiceImplBase {

  private final String node;
  private final Behaviour behaviour;
  private final List<String> operations;
  private final NodeFault fault;
  private final Performer performer;

  MockService(String node, Behaviour behaviour, NodeFault fault, Performer performer) {
    this.node = node;
    this.behaviour = behaviour;
    this.operations = behaviour.operations();
    this.fault = fault;
    this.performer = performer;
  }

  @Override
  public void mock(MockRequest request, StreamObserver<MockResponse> observer) {
    Task task;
    try {
      task = task(request, MetadataInterceptor.current());
    } catch (IllegalArgumentException | UnknownOperationException rejected) {
      observer.onError(status(rejected).asRuntimeException());
      return;
    }
    CompletableFuture<Void> done = performer.perform(task);
    ((ServerCallStreamObserver<MockResponse>) observer).setOnCancelHandler(() -> done.cancel(true));
    done.whenComplete((nothing, failure) -> {
      if (failure == null) {
        observer.onNext(response(task));
        observer.onCompleted();
      } else if (!done.isCancelled()) {
        observer.onError(status(failure).asRuntimeException());
      }
    });
  }

  private Task task(MockRequest request, Metadata metadata) {
    String named = metadata.get(GrpcHead.OPERATION);
    return behaviour.task(
        named == null ? operation(request.getConfig()) : named,
        GrpcHead.read(request, metadata),
        fault.held());
  }

  /**
   * The operation with this index, from 1; 0 is the first too. Clients name operations this way.
   */
  private String operation(int config) {
    int index = Math.max(config, 1) - 1;
    if (config < 0 || index >= operations.size()) {
      throw new UnknownOperationException(Integer.toUnsignedString(config), operations);
    }
    return operations.get(index);
  }

  private MockResponse response(Task task) {
    return MockResponse.newBuilder()
        .setNode(node)
        .setOperation(task.operation())
        .setCalls(task.calls())
        .build();
  }

  private static Status status(Throwable failure) {
    Status status =
        switch (failure) {
          case DrawnFailureException drawn -> Status.INTERNAL;
          case PeerFailedException peer -> Status.UNAVAILABLE;
          case UnknownOperationException unknown -> Status.NOT_FOUND;
          case IllegalArgumentException rejected -> Status.INVALID_ARGUMENT;
          default -> Status.UNKNOWN.withCause(failure);
        };
    return status.withDescription(failure.getMessage());
  }
}
