package tollbooth.telemetry.otel.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.contract.OpenTelemetrySpans;

/** The spans of gRPC calls written by hand, kept in memory. */
class GrpcTracingTest extends GrpcTracingContract {

  private static final String[] ATTRIBUTES = {
    "rpc.system.name",
    "rpc.method",
    "rpc.status_code",
    "server.address",
    "server.port",
    "network.transport",
    "network.protocol.name",
    "network.protocol.version"
  };

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @Override
  protected Map<String, Object> beans() {
    return Map.of("openTelemetry", spans.sdk());
  }

  @Override
  protected Map<String, String> properties() {
    return Map.of();
  }

  @Override
  protected OpenTelemetrySpans spans() {
    return spans;
  }

  @Test
  void givesEverySpanEightAttributesAndNoVerdict() {
    client().call(MockRequest.getDefaultInstance());
    finished(SPANS_OF_WORK);

    assertThat(spans.finished()).extracting(span -> span.getAttributes().size()).containsOnly(8);
    assertThat(spans.finished())
        .extracting(span -> span.getStatus().getStatusCode())
        .containsOnly(StatusCode.UNSET);
  }

  @Test
  void tagsAndNamesSpansAsTheConventionsDo() {
    client().call(MockRequest.getDefaultInstance());
    finished(SPANS_OF_WORK);

    for (SpanKind kind : List.of(SpanKind.SERVER, SpanKind.CLIENT)) {
      List<SpanData> calls = grpc(kind);
      assertThat(calls).extracting(SpanData::getName).containsOnly("Service/Mock");
      assertThat(OpenTelemetrySpans.attributes(calls, kind))
          .containsOnlyKeys(ATTRIBUTES)
          .containsEntry("rpc.system.name", "grpc")
          .containsEntry("rpc.method", "Service/Mock")
          .containsEntry("rpc.status_code", "OK")
          .containsEntry("server.address", "localhost");
    }
  }

  @Test
  void leavesThePortOutWhereTheClientNamesNone() throws Exception {
    client()
        .starting()
        .withInterceptors(new WithAuthority("b1"))
        .mock(MockRequest.getDefaultInstance())
        .get();
    finished(SPANS_OF_WORK);

    List<SpanData> first =
        spans.finished().stream().filter(span -> !span.getParentSpanContext().isValid()).toList();
    assertThat(OpenTelemetrySpans.attributes(first, SpanKind.SERVER))
        .containsEntry("server.address", "b1")
        .doesNotContainKey("server.port");
  }

  @Test
  void marksADrawnFailureOnBothOfItsSpans() {
    MockRequest broken = MockRequest.newBuilder().setConfig(2).build();
    assertThatThrownBy(() -> client().call(broken)).isInstanceOf(StatusRuntimeException.class);
    finished(3);

    assertThat(spans.finished())
        .allMatch(span -> span.getStatus().getStatusCode() == StatusCode.ERROR)
        .extracting(span -> span.getAttributes().get(AttributeKey.stringKey("error.type")))
        .containsExactlyInAnyOrder("INTERNAL", "INTERNAL", "UNAVAILABLE");
  }

  @Test
  void doesNotBlameTheServerForAClientsMistake() {
    MockRequest wrong = MockRequest.newBuilder().setErrorProbability(2).build();
    assertThatThrownBy(() -> client().call(wrong)).isInstanceOf(StatusRuntimeException.class);
    finished(1);

    assertThat(spans.finished())
        .singleElement()
        .extracting(span -> span.getStatus().getStatusCode())
        .isEqualTo(StatusCode.UNSET);
  }

  private record WithAuthority(String authority) implements ClientInterceptor {

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return next.newCall(method, options.withAuthority(authority));
    }
  }

  private List<SpanData> grpc(SpanKind kind) {
    return spans.finished().stream()
        .filter(span -> span.getKind() == kind)
        .filter(span -> span.getAttributes().get(AttributeKey.stringKey("rpc.method")) != null)
        .toList();
  }
}
