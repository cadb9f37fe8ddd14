package tollbooth.telemetry.otel.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.EnumSet;
import java.util.Set;
import tollbooth.telemetry.otel.ExtraAttributes;

/** Makes one SERVER span for each call, a child of the call's context. */
final class GrpcServerSpans implements ServerInterceptor {

  /** The codes that the conventions call server errors; the others are the client's. */
  private static final Set<Status.Code> FAULTS =
      EnumSet.of(
          Status.Code.UNKNOWN,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.UNIMPLEMENTED,
          Status.Code.INTERNAL,
          Status.Code.UNAVAILABLE,
          Status.Code.DATA_LOSS);

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final ExtraAttributes extra;

  GrpcServerSpans(Tracer tracer, TextMapPropagator propagator, ExtraAttributes extra) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.extra = extra;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
    Context caller = propagator.extract(Context.root(), metadata, MetadataGetter.INSTANCE);
    Span span =
        extra.addTo(
            RpcSpan.of(tracer, call.getMethodDescriptor(), call.getAuthority())
                .setSpanKind(SpanKind.SERVER)
                .setParent(caller)
                .startSpan());
    Context context = caller.with(span);
    try (Scope scope = context.makeCurrent()) {
      return new ContextListener<>(
          next.startCall(new EndingCall<>(call, span), metadata), context, span);
    } catch (RuntimeException notStarted) {
      end(span, Status.UNKNOWN);
      throw notStarted;
    }
  }

  private static void end(Span span, Status status) {
    RpcSpan.end(span, status, FAULTS.contains(status.getCode()));
  }

  /** Ends the span with the answer. */
  private static final class EndingCall<Q, R> extends SimpleForwardingServerCall<Q, R> {

    private final Span span;

    EndingCall(ServerCall<Q, R> call, Span span) {
      super(call);
      this.span = span;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      end(span, status);
      super.close(status, trailers);
    }
  }

  /** The handler of a call runs when its message is complete. */
  private static final class ContextListener<Q> extends SimpleForwardingServerCallListener<Q> {

    private final Context context;
    private final Span span;

    ContextListener(ServerCall.Listener<Q> listener, Context context, Span span) {
      super(listener);
      this.context = context;
      this.span = span;
    }

    @Override
    public void onHalfClose() {
      try (Scope scope = context.makeCurrent()) {
        super.onHalfClose();
      }
    }

    @Override
    public void onCancel() {
      super.onCancel();
      end(span, Status.CANCELLED);
    }
  }

  private enum MetadataGetter implements TextMapGetter<Metadata> {
    INSTANCE;

    @Override
    public Iterable<String> keys(Metadata metadata) {
      return metadata.keys();
    }

    @Override
    public String get(Metadata metadata, String name) {
      return metadata.get(MetadataKeys.of(name));
    }
  }
}
