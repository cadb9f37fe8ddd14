package tollbooth.telemetry.otel.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import tollbooth.telemetry.otel.ExtraAttributes;

/** Makes one CLIENT span for each call; the call's metadata carries its context. */
final class GrpcClientSpans implements ClientInterceptor {

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final ExtraAttributes extra;

  GrpcClientSpans(Tracer tracer, TextMapPropagator propagator, ExtraAttributes extra) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.extra = extra;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<R> listener, Metadata metadata) {
        Span span =
            extra.addTo(
                RpcSpan.of(tracer, method, next.authority())
                    .setSpanKind(SpanKind.CLIENT)
                    .startSpan());
        propagator.inject(
            Context.current().with(span),
            metadata,
            (carrier, name, value) -> carrier.put(MetadataKeys.of(name), value));
        try {
          super.start(new EndingListener<>(listener, span), metadata);
        } catch (RuntimeException notStarted) {
          RpcSpan.end(span, Status.UNKNOWN, true);
          throw notStarted;
        }
      }
    };
  }

  /** Ends the span with the answer; every code but OK is an error for a client. */
  private static final class EndingListener<R> extends SimpleForwardingClientCallListener<R> {

    private final Span span;

    EndingListener(ClientCall.Listener<R> listener, Span span) {
      super(listener);
      this.span = span;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      RpcSpan.end(span, status, !status.isOk());
      super.onClose(status, trailers);
    }
  }
}
