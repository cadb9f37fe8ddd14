package tollbooth.telemetry.otel.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.semconv.ServerAttributes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tollbooth.grpc.proto.ServiceGrpc;
import tollbooth.telemetry.contract.OpenTelemetrySpans;

class RpcSpanTest {

  private final OpenTelemetrySpans spans = new OpenTelemetrySpans();

  @ParameterizedTest
  @CsvSource({
    "b1.internal:9090, b1.internal, 9090",
    "b1.internal, b1.internal,",
    "[::1]:9090, [::1], 9090",
    "[::1], [::1],",
    ",,"
  })
  void namesAsMuchOfTheServerAsTheAuthorityDoes(String authority, String address, Long port) {
    RpcSpan.of(spans.sdk().getTracer("test"), ServiceGrpc.getMockMethod(), authority)
        .startSpan()
        .end();

    Attributes attributes = spans.finished().getFirst().getAttributes();
    assertThat(attributes.get(ServerAttributes.SERVER_ADDRESS)).isEqualTo(address);
    assertThat(attributes.get(ServerAttributes.SERVER_PORT)).isEqualTo(port);
  }
}
