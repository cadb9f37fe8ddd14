package tollbooth.grpc;

import io.grpc.Metadata;
import java.util.Optional;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;
import tollbooth.workload.Target;

/** Reads and writes the head of a call by gRPC: the path is metadata, the overrides are fields. */
public final class GrpcHead {

  /** The metadata that names the operation between services; a client gives its index instead. */
  public static final Metadata.Key<String> OPERATION = key("tollbooth-operation");

  private static final Metadata.Key<String> PATH = key(CallPath.HEADER);
  private static final Metadata.Key<String> ATTEMPT = key(CallPath.ATTEMPT_HEADER);

  private GrpcHead() {}

  /**
   * Reads the head of a call. Without a path, the path is the request's number.
   *
   * @throws IllegalArgumentException if a value is invalid or out of bounds
   */
  public static CallHead read(MockRequest request, Metadata metadata) {
    String path = metadata.get(PATH);
    CallPath call =
        path == null
            ? CallPath.ofRequest(Integer.toUnsignedLong(request.getRequestCounter()))
            : CallPath.valueOf(path);
    return new CallHead(call.attempt(metadata.get(ATTEMPT)), overrides(request));
  }

  /** The metadata of a call. */
  static Metadata metadata(Target target, CallHead head) {
    Metadata metadata = new Metadata();
    metadata.put(OPERATION, target.operation());
    metadata.put(PATH, head.path().text());
    return metadata;
  }

  /** The message of a call. */
  static MockRequest message(CallHead head) {
    MockRequest.Builder message = MockRequest.newBuilder();
    head.overrides().latencyMs().ifPresent(message::setLatency);
    head.overrides()
        .errorProbability()
        .ifPresent(probability -> message.setErrorProbability(probability.floatValue()));
    return message.build();
  }

  private static Overrides overrides(MockRequest request) {
    if (!request.hasLatency() && !request.hasErrorProbability()) {
      return Overrides.NONE;
    }
    return new Overrides(
        request.hasLatency() ? Optional.of(request.getLatency()) : Optional.empty(),
        request.hasErrorProbability()
            ? Optional.of((double) request.getErrorProbability())
            : Optional.empty());
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
