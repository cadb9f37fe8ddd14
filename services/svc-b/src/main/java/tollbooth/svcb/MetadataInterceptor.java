package tollbooth.svcb;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/** Lets a call's handler see its metadata, which gRPC gives to interceptors only. */
final class MetadataInterceptor implements ServerInterceptor {

  private static final Context.Key<Metadata> METADATA = Context.key("metadata");

  /** The metadata of the call that is being handled. */
  static Metadata current() {
    return METADATA.get();
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
    return Contexts.interceptCall(
        Context.current().withValue(METADATA, metadata), call, metadata, next);
  }
}
