package tollbooth.telemetry.otel;

import static io.opentelemetry.semconv.ErrorAttributes.ERROR_TYPE;
import static io.opentelemetry.semconv.HttpAttributes.HTTP_REQUEST_METHOD;
import static io.opentelemetry.semconv.HttpAttributes.HTTP_RESPONSE_STATUS_CODE;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_PROTOCOL_NAME;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_PROTOCOL_VERSION;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_ADDRESS;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_PORT;
import static io.opentelemetry.semconv.UrlAttributes.URL_FULL;
import static io.opentelemetry.semconv.UrlAttributes.URL_SCHEME;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.io.IOException;
import java.net.URI;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/** Makes one CLIENT span for each call; the call carries its context. */
final class ClientSpans implements ClientHttpRequestInterceptor {

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final ExtraAttributes extra;

  ClientSpans(Tracer tracer, TextMapPropagator propagator, ExtraAttributes extra) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.extra = extra;
  }

  @Override
  public ClientHttpResponse intercept(
      HttpRequest request, byte[] body, ClientHttpRequestExecution execution) throws IOException {
    Span span = extra.addTo(start(request));
    try (Scope scope = span.makeCurrent()) {
      propagator.inject(Context.current(), request.getHeaders(), HttpHeaders::set);
      ClientHttpResponse response = execution.execute(request, body);
      end(span, response.getStatusCode().value());
      return response;
    } catch (IOException | RuntimeException unanswered) {
      span.setAttribute(ERROR_TYPE, unanswered.getClass().getName()).setStatus(StatusCode.ERROR);
      throw unanswered;
    } finally {
      span.end();
    }
  }

  private Span start(HttpRequest request) {
    URI uri = request.getURI();
    return tracer
        .spanBuilder(request.getMethod().name())
        .setSpanKind(SpanKind.CLIENT)
        .setAttribute(HTTP_REQUEST_METHOD, request.getMethod().name())
        .setAttribute(URL_FULL, uri.toString())
        .setAttribute(URL_SCHEME, uri.getScheme())
        .setAttribute(SERVER_ADDRESS, uri.getHost())
        .setAttribute(SERVER_PORT, (long) uri.getPort())
        // Spring does not report the protocol; the services' client uses this one only.
        .setAttribute(NETWORK_PROTOCOL_NAME, "http")
        .setAttribute(NETWORK_PROTOCOL_VERSION, "1.1")
        .startSpan();
  }

  private static void end(Span span, int status) {
    span.setAttribute(HTTP_RESPONSE_STATUS_CODE, (long) status);
    if (status >= 400) {
      span.setAttribute(ERROR_TYPE, Integer.toString(status)).setStatus(StatusCode.ERROR);
    }
  }
}
