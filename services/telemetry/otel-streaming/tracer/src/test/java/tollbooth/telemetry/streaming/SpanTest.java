package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** What the SDK does not show: buffers, drops and threads. */
class SpanTest {

  @Test
  void childrenFollowTheirLocalParent() {
    Harness harness = Harness.of(Limits.DEFAULT);
    Tracer tracer = harness.provider.get("test");
    Span parent = tracer.spanBuilder("parent").setNoParent().startSpan();
    Span child = tracer.spanBuilder("child").setParent(Context.root().with(parent)).startSpan();
    child.end();
    parent.end();

    var spans = harness.sentSpans();
    assertThat(spans).extracting(span -> span.getName()).containsExactly("child", "parent");
    assertThat(spans.getFirst().getParentSpanId()).isEqualTo(spans.getLast().getSpanId());
    assertThat(spans.getFirst().getTraceId()).isEqualTo(spans.getLast().getTraceId());
    assertThat(spans.getFirst().getEndTimeUnixNano())
        .isBetween(spans.getFirst().getStartTimeUnixNano(), spans.getLast().getEndTimeUnixNano());
  }

  @Test
  void dropsAndCountsWhereTheQueueIsFull() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 64, 4);
    Tracer tracer = harness.provider.get("test");
    for (int i = 0; i < 10; i++) {
      tracer.spanBuilder("span").startSpan().end();
    }

    assertThat(harness.ledger.counts().ended()).isEqualTo(10);
    assertThat(harness.ledger.counts().queueFull()).isEqualTo(6);
    assertThat(harness.sentSpans()).hasSize(4);
  }

  @Test
  void wakesTheRecorderOnceUntilTheQueueWasEmpty() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 64, 8);
    Tracer tracer = harness.provider.get("test");
    for (int i = 0; i < 3; i++) {
      tracer.spanBuilder("span").startSpan().end();
    }
    assertThat(harness.wakes).isZero();

    for (int i = 3; i < 8; i++) {
      tracer.spanBuilder("span").startSpan().end();
    }
    assertThat(harness.wakes).isEqualTo(1);

    assertThat(harness.sentSpans()).hasSize(8);
    for (int i = 0; i < 4; i++) {
      tracer.spanBuilder("span").startSpan().end();
    }
    assertThat(harness.wakes).isEqualTo(2);
  }

  @Test
  void givesUpWhatEndsAfterTheEnd() {
    Harness harness = Harness.of(Limits.DEFAULT);
    Tracer tracer = harness.provider.get("test");
    Span early = tracer.spanBuilder("early").startSpan();
    Span late = tracer.spanBuilder("late").startSpan();
    early.end();
    harness.provider.close();
    late.end();

    assertThat(harness.provider.counts()).isEqualTo(new Counts(2, 0, 0, 0, 0, 2, 0));
    assertThat(tracer.spanBuilder("span").startSpan().isRecording()).isFalse();
    assertThat(harness.queue.isEmpty()).isTrue();
  }

  @Test
  void losesNoSpanThatEndsWhileTheTracerIsClosed() throws Exception {
    for (int round = 0; round < 200; round++) {
      Harness harness = Harness.of(Limits.DEFAULT);
      Span span = harness.provider.get("test").spanBuilder("span").startSpan();
      Thread ending = Thread.ofPlatform().start(span::end);
      harness.provider.close();
      ending.join();

      assertThat(harness.ledger.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 1, 0));
    }
  }

  @Test
  void dropsAndCountsASpanThatIsTooLarge() {
    Harness harness = Harness.of(new Limits(128, 128, 128, 128, 128, Integer.MAX_VALUE, 10_000));
    Span span = harness.provider.get("test").spanBuilder("span").startSpan();
    span.setAttribute("large", "x".repeat(20_000));
    assertThat(span.isRecording()).isTrue();
    span.end();

    assertThat(harness.ledger.counts().tooLarge()).isEqualTo(1);
    assertThat(harness.sentSpans()).isEmpty();
  }

  @Test
  void aMillionUnendedSpansShareTheirBoundOfBuffers() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 1_000, 2_048);
    Tracer tracer = harness.provider.get("test");
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 1_000_000; i++) {
      spans.add(tracer.spanBuilder("span").startSpan().setAttribute("key", i));
    }
    assertThat(harness.buffers.existing()).isEqualTo(1_000);

    spans.forEach(Span::end);
    assertThat(harness.ledger.counts().ended()).isEqualTo(1_000_000);
    assertThat(harness.ledger.counts().queueFull()).isEqualTo(999_000);
    assertThat(harness.sentSpans()).hasSize(1_000);
  }

  /** A span gets the buffers of the ones before while their writers still run. */
  @Test
  void noSpanHasTheBytesOfAnother() throws Exception {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 128, 64);
    Tracer tracer = harness.provider.get("test");
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService recorder = Executors.newSingleThreadExecutor();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> drained =
          recorder.submit(() -> {
            while (!over.get()) {
              sent.writeBytes(harness.sentBytes());
            }
          });
      for (int round = 0; round < 2_000; round++) {
        while (!harness.queue.isEmpty() && !drained.isDone()) {
          Thread.onSpinWait();
        }
        Span span = tracer.spanBuilder("span").startSpan();
        CountDownLatch both = new CountDownLatch(2);
        for (int writer = 0; writer < 2; writer++) {
          String name = "writer" + writer + ".";
          threads.execute(() -> {
            both.countDown();
            for (int i = 0; i < 100; i++) {
              span.setAttribute(name + i % 20, span.getSpanContext().getSpanId() + i);
            }
          });
        }
        both.await();
        span.end();
      }
      over.set(true);
      drained.get();
    }
    sent.writeBytes(harness.sentBytes());
    assertThat(harness.ledger.counts().queueFull()).isZero();
    assertThat(checkIds(sent.toByteArray())).isEqualTo(2_000);
  }

  /** Every attribute starts with its span's id. */
  private static int checkIds(byte[] sent) throws Exception {
    var groups = ExportTraceServiceRequest.parseFrom(sent).getResourceSpansList();
    for (var group : groups) {
      var span = group.getScopeSpans(0).getSpans(0);
      String id = HexFormat.of().formatHex(span.getSpanId().toByteArray());
      assertThat(span.getAttributesList())
          .allSatisfy(
              attribute -> assertThat(attribute.getValue().getStringValue()).startsWith(id));
    }
    return groups.size();
  }
}
