package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TracerProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import zipkin2.codec.SpanBytesDecoder;

/** The second wire format, read by Zipkin's own decoder. */
class ZipkinFormatTest {

  @Test
  void zipkinReadsTheSameSpan() {
    Harness harness =
        new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 64, 64, new ZipkinFormat("a1"));
    TracerProvider provider = harness.provider;
    Span span =
        provider
            .get("test")
            .spanBuilder("first name")
            .setSpanKind(SpanKind.CLIENT)
            .setStartTimestamp(1_000, TimeUnit.MILLISECONDS)
            .setAttribute("text", "replaced")
            .startSpan();
    span.setAttribute("text", "kept").setAttribute("number", 7).updateName("name");
    span.addEvent("event", 1_001, TimeUnit.MILLISECONDS);
    span.setStatus(StatusCode.ERROR, "why");
    span.end(1_500, TimeUnit.MILLISECONDS);

    assertThat(SpanBytesDecoder.PROTO3.decodeList(harness.sentBytes()))
        .containsExactly(
            zipkin2.Span.newBuilder()
                .traceId(span.getSpanContext().getTraceId())
                .id(span.getSpanContext().getSpanId())
                .kind(zipkin2.Span.Kind.CLIENT)
                .name("name")
                .timestamp(1_000_000)
                .duration(500_000)
                .localEndpoint(zipkin2.Endpoint.newBuilder().serviceName("a1").build())
                .addAnnotation(1_001_000, "event")
                .putTag("text", "kept")
                .putTag("number", "7")
                .putTag("otel.status_code", "ERROR")
                .putTag("error", "why")
                .build());
  }
}
