package tollbooth.telemetry.streaming.spring;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.HexFormat;
import java.util.List;
import tollbooth.telemetry.contract.RecordedSpan;
import tollbooth.telemetry.contract.Spans;
import tollbooth.telemetry.streaming.testing.StubBackend;

/** The spans that a backend received. */
final class ReceivedSpans implements Spans {

  private static final HexFormat HEX = HexFormat.of();

  private final StubBackend backend;

  ReceivedSpans(StubBackend backend) {
    this.backend = backend;
  }

  @Override
  public List<RecordedSpan> recorded() {
    return backend.spans().stream().map(ReceivedSpans::recorded).toList();
  }

  @Override
  public void forget() {
    backend.forget();
  }

  private static RecordedSpan recorded(Span span) {
    return new RecordedSpan(
        hex(span.getTraceId()),
        hex(span.getSpanId()),
        span.getParentSpanId().isEmpty() ? null : hex(span.getParentSpanId()),
        span.getKind().name().replace("SPAN_KIND_", ""));
  }

  private static String hex(ByteString id) {
    return HEX.formatHex(id.toByteArray());
  }
}
