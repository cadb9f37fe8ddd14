package tollbooth.telemetry.streaming.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.telemetry.contract.GrpcTracingContract;
import tollbooth.telemetry.streaming.spring.testing.ReceivedSpans;

/** The spans of gRPC calls that a backend receives from running services. */
class GrpcTracingTest extends GrpcTracingContract {

  private final ReceivedSpans spans = new ReceivedSpans();

  @AfterAll
  void closeBackend() {
    spans.close();
  }

  @Override
  protected Map<String, Object> beans() {
    return Map.of();
  }

  @Override
  protected Map<String, String> properties() {
    return spans.properties();
  }

  @Override
  protected ReceivedSpans spans() {
    return spans;
  }

  @Test
  void givesEverySpanEightAttributes() {
    client().call(MockRequest.getDefaultInstance());
    finished(SPANS_OF_WORK);

    assertThat(spans.backend().spans()).allMatch(span -> span.getAttributesCount() == 8);
  }
}
