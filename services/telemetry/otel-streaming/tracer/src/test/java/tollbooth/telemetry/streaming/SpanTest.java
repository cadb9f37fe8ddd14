package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** What the SDK does not show: buffers, drops and threads. */
class SpanTest {

  /** Of threads that write to a span while it ends, and their calls after its end. */
  private static final int ROUNDS = 1_000;

  private static final int LATE_CALLS = 50;

  @Test
  void childrenHaveTheClockOfTheirLocalParent() {
    Harness harness = Harness.of(Limits.DEFAULT);
    Tracer tracer = harness.provider.get("test");
    Span parent = tracer.spanBuilder("parent").setNoParent().startSpan();
    Span child = tracer.spanBuilder("child").setParent(Context.root().with(parent)).startSpan();
    child.end();
    parent.end();

    var spans = harness.sentSpans();
    assertThat(spans.getFirst().getEndTimeUnixNano())
        .isBetween(spans.getFirst().getStartTimeUnixNano(), spans.getLast().getEndTimeUnixNano());
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
    for (int round = 0; round < 1_000; round++) {
      Harness harness = Harness.of(Limits.DEFAULT);
      Span span = harness.provider.get("test").spanBuilder("span").startSpan();
      AtomicInteger there = new AtomicInteger();
      Thread ending =
          Thread.ofPlatform()
              .start(() -> {
                meet(there);
                span.end();
              });
      meet(there);
      harness.provider.close();
      ending.join();

      assertThat(harness.ledger.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 1, 0));
    }
  }

  /** Returns in two threads at the same time. A lock would wake one of them too late for a race. */
  private static void meet(AtomicInteger there) {
    there.incrementAndGet();
    while (there.get() < 2) {
      Thread.onSpinWait();
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
  void countsASpanWhoseEndFailsAndGivesItsBuffersBack() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 2, 2);
    StreamingTracer tracer = (StreamingTracer) harness.provider.get("test");
    for (int i = 0; i < 10; i++) {
      StreamingSpan nameless = new StreamingSpan(tracer, 1, 1, 1, null, 0, null);
      nameless.start(tracer.pipeline.recordings().take());
      assertThatThrownBy(nameless::end).isInstanceOf(NullPointerException.class);
    }

    assertThat(harness.ledger.counts()).isEqualTo(new Counts(10, 0, 0, 0, 0, 10, 0));
  }

  @Test
  void readsTheClockAgainIfTheThreadLostTheProcessor() {
    Iterator<Long> nanos = List.of(0L, 30_000L, 40_000L, 42_000L).iterator();

    assertThat(EpochClock.Reading.of(nanos::next, () -> Instant.EPOCH))
        .isEqualTo(new EpochClock.Reading(41_000, -41_000));
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

  /** In a method of its own, after which nothing refers to the spans. */
  private static void forgetSpans(Harness harness) {
    Tracer tracer = harness.provider.get("test");
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      spans.add(tracer.spanBuilder("forgotten").startSpan().setAttribute("key", i));
    }
    assertThat(harness.buffers.existing()).isEqualTo(100);
    spans.clear();
  }

  private static boolean hasNoBufferAfterCollection(Harness harness) {
    System.gc();
    return harness.buffers.existing() == 0;
  }

  @Test
  void takesBackTheBuffersOfForgottenSpans() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 100, 64);
    forgetSpans(harness);
    await().until(() -> hasNoBufferAfterCollection(harness));

    harness.provider.get("test").spanBuilder("span").startSpan().end();
    assertThat(harness.ledger.counts().queueFull()).isZero();
    assertThat(harness.sentSpans()).hasSize(1);
  }

  /** A span gets the buffers of the ones before while their writers still run. */
  @Test
  void noSpanHasTheBytesOfAnother() throws Exception {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 512, 64);
    Tracer tracer = harness.provider.get("test");
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger late = new AtomicInteger();
    try (ExecutorService recorder = Executors.newSingleThreadExecutor();
        ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<?> drained =
          recorder.submit(() -> {
            while (!over.get()) {
              sent.writeBytes(harness.sentBytes());
            }
          });
      for (int round = 0; round < ROUNDS; round++) {
        while (!harness.queue.isEmpty() && !drained.isDone()) {
          Thread.onSpinWait();
        }
        Span span = tracer.spanBuilder("span").startSpan();
        CountDownLatch both = new CountDownLatch(2);
        for (int writer = 0; writer < 2; writer++) {
          String name = "writer" + writer + ".";
          threads.execute(() -> write(span, name, both, late));
        }
        both.await();
        threads.execute(span::end);
        span.end();
      }
      over.set(true);
      drained.get();
    }
    sent.writeBytes(harness.sentBytes());
    assertThat(harness.ledger.counts().queueFull()).isZero();
    assertThat(harness.ledger.counts().ended()).isEqualTo(ROUNDS);
    List<Integer> attributes = checkIds(sent.toByteArray());
    assertThat(attributes).hasSize(ROUNDS).allMatch(count -> count >= 2);
    assertThat(attributes).anyMatch(count -> count < Limits.DEFAULT.attributes());
    assertThat(late).hasValue(2 * LATE_CALLS * ROUNDS);
  }

  /** Calls the span until it ends, and then some more. */
  private static void write(Span span, String name, CountDownLatch begun, AtomicInteger late) {
    String id = span.getSpanContext().getSpanId();
    span.setAttribute(name, id);
    begun.countDown();
    int after = 0;
    for (int i = 0; after < LATE_CALLS; i++) {
      after += span.isRecording() ? 0 : 1;
      switch (i % 5) {
        case 0 -> span.addEvent(id);
        case 1 -> span.addLink(span.getSpanContext());
        case 2 -> span.setStatus(StatusCode.ERROR, id);
        case 3 -> span.updateName(id);
        // New keys come seldom, so that the span ends before it has all that fit.
        default -> span.setAttribute(name + i / 1_000, id + i);
      }
    }
    late.addAndGet(after);
  }

  /**
   * Checks that every text starts with its span's id.
   *
   * @return the number of each span's attributes
   */
  private static List<Integer> checkIds(byte[] sent) throws Exception {
    List<Integer> counts = new ArrayList<>();
    for (var group : ExportTraceServiceRequest.parseFrom(sent).getResourceSpansList()) {
      var span = group.getScopeSpans(0).getSpans(0);
      String id = HexFormat.of().formatHex(span.getSpanId().toByteArray());
      assertThat(span.toString())
          .doesNotContainPattern("(name|message|string_value): \"(?!span\"|" + id + ")");
      counts.add(span.getAttributesCount());
    }
    return counts;
  }
}
