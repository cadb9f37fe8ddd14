package tollbooth.telemetry.zipkin.grpc;

import java.util.Map;
import tollbooth.telemetry.contract.BraveSpans;
import tollbooth.telemetry.contract.GrpcTracingContract;

/** The spans that Micrometer's observations of gRPC make with Brave. */
class GrpcTracingTest extends GrpcTracingContract {

  private final BraveSpans spans = new BraveSpans();

  @Override
  protected BraveSpans spans() {
    return spans;
  }

  @Override
  protected Map<String, Object> beans() {
    return spans.beans();
  }

  @Override
  protected Map<String, String> properties() {
    return IN_MEMORY;
  }
}
