package tollbooth.telemetry.streaming.spring.testing;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import tollbooth.telemetry.contract.RecordedSpan;
import tollbooth.telemetry.contract.Spans;
import tollbooth.telemetry.streaming.testing.StubBackend;

/** The spans that a backend receives from running services. */
public final class ReceivedSpans implements Spans, AutoCloseable {

  private static final HexFormat HEX = HexFormat.of();

  private final StubBackend backend;

  /** Starts the backend. */
  public ReceivedSpans() {
    try {
      backend = new StubBackend();
    } catch (IOException noPort) {
      throw new UncheckedIOException(noPort);
    }
  }

  /** Where the spans arrive. */
  public StubBackend backend() {
    return backend;
  }

  /** The system properties with which services send here, soon after a span has ended. */
  public Map<String, String> properties() {
    return Map.of("otel.exporter.otlp.endpoint", backend.url(), "otel.bsp.schedule.delay", "100");
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

  @Override
  public void close() {
    backend.close();
  }
}
