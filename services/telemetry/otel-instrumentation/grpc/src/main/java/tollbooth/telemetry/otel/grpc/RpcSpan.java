package tollbooth.telemetry.otel.grpc;

import static io.opentelemetry.semconv.ErrorAttributes.ERROR_TYPE;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_PROTOCOL_NAME;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_PROTOCOL_VERSION;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_TRANSPORT;
import static io.opentelemetry.semconv.RpcAttributes.RPC_METHOD;
import static io.opentelemetry.semconv.RpcAttributes.RPC_STATUS_CODE;
import static io.opentelemetry.semconv.RpcAttributes.RPC_SYSTEM_NAME;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_ADDRESS;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_PORT;

import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.semconv.NetworkAttributes.NetworkTransportValues;
import io.opentelemetry.semconv.RpcAttributes.RpcSystemNameValues;

/** What both spans of a call share: the semantic conventions for gRPC. */
final class RpcSpan {

  private RpcSpan() {}

  /**
   * Builds a span.
   *
   * @param authority host and port of the server, as the client knows them; the port may be left
   *     out, and null is none
   */
  static SpanBuilder of(Tracer tracer, MethodDescriptor<?, ?> method, String authority) {
    SpanBuilder span =
        tracer
            .spanBuilder(method.getFullMethodName())
            .setAttribute(RPC_SYSTEM_NAME, RpcSystemNameValues.GRPC)
            .setAttribute(RPC_METHOD, method.getFullMethodName());
    if (authority != null) {
      setServer(span, authority);
    }
    return span.setAttribute(NETWORK_TRANSPORT, NetworkTransportValues.TCP)
        .setAttribute(NETWORK_PROTOCOL_NAME, "http")
        .setAttribute(NETWORK_PROTOCOL_VERSION, "2");
  }

  private static void setServer(SpanBuilder span, String authority) {
    int colon = authority.lastIndexOf(':');
    // The colons within the brackets belong to an IPv6 address.
    if (colon <= authority.lastIndexOf(']')) {
      span.setAttribute(SERVER_ADDRESS, authority);
      return;
    }
    span.setAttribute(SERVER_ADDRESS, authority.substring(0, colon))
        .setAttribute(SERVER_PORT, Long.parseLong(authority, colon + 1, authority.length(), 10));
  }

  /** Ends a span with the result of its call. */
  static void end(Span span, Status status, boolean error) {
    String code = status.getCode().name();
    span.setAttribute(RPC_STATUS_CODE, code);
    if (error) {
      span.setAttribute(ERROR_TYPE, code).setStatus(StatusCode.ERROR);
    }
    span.end();
  }
}
