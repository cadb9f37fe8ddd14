package tollbooth.telemetry.otel;

import static io.opentelemetry.semconv.ErrorAttributes.ERROR_TYPE;
import static io.opentelemetry.semconv.HttpAttributes.HTTP_REQUEST_METHOD;
import static io.opentelemetry.semconv.HttpAttributes.HTTP_RESPONSE_STATUS_CODE;
import static io.opentelemetry.semconv.HttpAttributes.HTTP_ROUTE;
import static io.opentelemetry.semconv.NetworkAttributes.NETWORK_PROTOCOL_VERSION;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_ADDRESS;
import static io.opentelemetry.semconv.ServerAttributes.SERVER_PORT;
import static io.opentelemetry.semconv.UrlAttributes.URL_PATH;
import static io.opentelemetry.semconv.UrlAttributes.URL_SCHEME;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import org.springframework.web.servlet.HandlerMapping;

/** Makes one SERVER span for each request, a child of the request's context. */
final class ServerSpans extends HttpFilter {

  private static final long serialVersionUID = 1L;

  private final transient Tracer tracer;
  private final transient TextMapPropagator propagator;
  private final transient ExtraAttributes extra;

  ServerSpans(Tracer tracer, TextMapPropagator propagator, ExtraAttributes extra) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.extra = extra;
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    Span span = extra.addTo(start(request));
    try (Scope scope = span.makeCurrent()) {
      chain.doFilter(request, response);
      end(span, request, response);
    } catch (IOException | ServletException | RuntimeException unhandled) {
      // The container answers 500, but only after this filter.
      span.setAttribute(ERROR_TYPE, unhandled.getClass().getName()).setStatus(StatusCode.ERROR);
      throw unhandled;
    } finally {
      span.end();
    }
  }

  private Span start(HttpServletRequest request) {
    return tracer
        .spanBuilder(request.getMethod())
        .setParent(propagator.extract(Context.root(), request, HeaderGetter.INSTANCE))
        .setSpanKind(SpanKind.SERVER)
        .setAttribute(HTTP_REQUEST_METHOD, request.getMethod())
        .setAttribute(URL_SCHEME, request.getScheme())
        .setAttribute(URL_PATH, request.getRequestURI())
        .setAttribute(SERVER_ADDRESS, request.getServerName())
        .setAttribute(SERVER_PORT, (long) request.getServerPort())
        .setAttribute(NETWORK_PROTOCOL_VERSION, version(request.getProtocol()))
        .startSpan();
  }

  private static void end(Span span, HttpServletRequest request, HttpServletResponse response) {
    int status = response.getStatus();
    span.setAttribute(HTTP_RESPONSE_STATUS_CODE, (long) status);
    if (request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE)
        instanceof String route) {
      span.setAttribute(HTTP_ROUTE, route).updateName(request.getMethod() + " " + route);
    }
    // Only 5xx is the server's error; 4xx is the client's.
    if (status >= 500) {
      span.setAttribute(ERROR_TYPE, Integer.toString(status)).setStatus(StatusCode.ERROR);
    }
  }

  /** {@code HTTP/1.1} without its name. */
  private static String version(String protocol) {
    return protocol.substring(protocol.indexOf('/') + 1);
  }

  private enum HeaderGetter implements TextMapGetter<HttpServletRequest> {
    INSTANCE;

    @Override
    public Iterable<String> keys(HttpServletRequest request) {
      return Collections.list(request.getHeaderNames());
    }

    @Override
    public String get(HttpServletRequest request, String name) {
      return request.getHeader(name);
    }
  }
}
