package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** What the SDK does not show: buffers, drops and threads. */
class SpanTest {

  /** Of a thread that writes to a span while it ends, after its end. */
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

  @Test
  void sendsNoSpanWithoutTheAttributesThatFoundNoBuffer() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 2, 64);
    Tracer tracer = harness.provider.get("test");
    Span first = tracer.spanBuilder("first").startSpan();
    tracer.spanBuilder("second").startSpan();
    SpanBuilder builder = tracer.spanBuilder("third").setAttribute("key", 1);
    first.end();
    assertThat(harness.sentSpans()).hasSize(1);

    builder.setAttribute("other", 2).startSpan().end();
    assertThat(harness.ledger.counts().queueFull()).isEqualTo(1);
    assertThat(harness.sentSpans()).isEmpty();
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

  /** OTLP, but the key {@code slow} waits until this is over. */
  private static WireFormat waiting(CountDownLatch begun, CountDownLatch over) {
    WireFormat otlp = new OtlpFormat(Harness.RESOURCE);
    return (WireFormat)
        Proxy.newProxyInstance(
            WireFormat.class.getClassLoader(),
            new Class<?>[] {WireFormat.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("key") && arguments[0].equals("slow")) {
                begun.countDown();
                over.await();
              }
              return method.invoke(otlp, arguments);
            });
  }

  /** As a virtual thread whose new key waits for the lock of keys. */
  @Test
  @Timeout(60)
  void waitsForACallThatHasLostItsProcessor() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 64, 64, waiting(slow, over));
    Span span = harness.provider.get("test").spanBuilder("span").startSpan();
    List<Thread> threads = new ArrayList<>();
    threads.add(Thread.ofVirtual().start(() -> span.setAttribute("slow", "done")));
    slow.await();
    // They take all processors.
    int others = Runtime.getRuntime().availableProcessors();
    CountDownLatch begun = new CountDownLatch(others);
    for (int i = 0; i < others; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                begun.countDown();
                span.setAttribute("fast", "done");
              }));
    }
    begun.await();
    over.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    span.end();

    assertThat(harness.sentSpans().getFirst().getAttributesList())
        .extracting(attribute -> attribute.getKey())
        .containsExactly("slow", "fast");
  }

  /** Until each thread was the first one at least once. */
  @Test
  @Timeout(60)
  void ofTwoEndsTheFirstCounts() throws Exception {
    Harness harness = Harness.of(Limits.DEFAULT);
    Tracer tracer = harness.provider.get("test");
    Map<Long, Integer> firsts = new HashMap<>();
    int rounds = 0;
    while (rounds < 500 || firsts.size() < 2) {
      Span span = tracer.spanBuilder("span").startSpan();
      AtomicInteger there = new AtomicInteger();
      Thread.Builder builder = ++rounds % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
      Thread other =
          builder.start(() -> {
            meet(there);
            span.end(1, TimeUnit.SECONDS);
          });
      meet(there);
      span.end(2, TimeUnit.SECONDS);
      other.join();

      var sent = harness.sentSpans();
      assertThat(sent).hasSize(1);
      firsts.merge(sent.getFirst().getEndTimeUnixNano(), 1, Integer::sum);
    }

    assertThat(firsts).containsOnlyKeys(1_000_000_000L, 2_000_000_000L);
    assertThat(harness.ledger.counts()).isEqualTo(new Counts(rounds, 0, 0, 0, 0, 0, 0));
  }

  /** A span gets the buffers of the ones before while their writers still run. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noSpanHasTheBytesOfAnother(boolean virtual) throws Exception {
    // More virtual threads than can run at the same time.
    int writers = virtual ? 8 : 2;
    int rounds = virtual ? 50 : 500;
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 512, 64);
    Tracer tracer = harness.provider.get("test");
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger late = new AtomicInteger();
    try (ExecutorService recorder = Executors.newSingleThreadExecutor();
        ExecutorService threads =
            virtual
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newCachedThreadPool()) {
      Future<?> drained =
          recorder.submit(() -> {
            while (!over.get()) {
              sent.writeBytes(harness.sentBytes());
            }
          });
      for (int round = 0; round < rounds; round++) {
        while (!harness.queue.isEmpty() && !drained.isDone()) {
          Thread.onSpinWait();
        }
        Span span = tracer.spanBuilder("span").startSpan();
        CountDownLatch begun = new CountDownLatch(writers);
        for (int writer = 0; writer < writers; writer++) {
          String name = "writer" + writer + ".";
          threads.execute(() -> write(span, name, begun, late));
        }
        begun.await();
        threads.execute(span::end);
        span.end();
      }
      over.set(true);
      drained.get();
    }
    sent.writeBytes(harness.sentBytes());
    assertThat(harness.ledger.counts().queueFull()).isZero();
    assertThat(harness.ledger.counts().ended()).isEqualTo(rounds);
    List<Integer> attributes = checkIds(sent.toByteArray());
    assertThat(attributes).hasSize(rounds).allMatch(count -> count >= writers);
    assertThat(attributes).anyMatch(count -> count < Limits.DEFAULT.attributes());
    assertThat(late).hasValue(writers * LATE_CALLS * rounds);
  }

  /** Calls the span until it ends, and then some more. */
  private static void write(Span span, String name, CountDownLatch begun, AtomicInteger late) {
    String id = span.getSpanContext().getSpanId();
    Attributes attributes = Attributes.of(AttributeKey.stringKey("key"), id);
    Exception exception = failure(id);
    span.setAttribute(name, id);
    begun.countDown();
    int after = 0;
    for (int i = 0; after < LATE_CALLS; i++) {
      after += span.isRecording() ? 0 : 1;
      if (i % 16 == 0 && Thread.currentThread().isVirtual()) {
        // Otherwise it keeps its processor, even if it yields, and the others cannot begin.
        LockSupport.parkNanos(1);
      }
      switch (i % 6) {
        case 0 -> span.addEvent(id, attributes);
        case 1 -> span.addLink(span.getSpanContext(), attributes);
        case 2 -> span.setStatus(StatusCode.ERROR, id);
        case 3 -> span.updateName(id);
        case 4 -> span.recordException(exception, attributes);
        // New keys come seldom, so that the span ends before it has all that fit.
        default -> span.setAttribute(name + i / 1_000, id + i);
      }
    }
    late.addAndGet(after);
  }

  /** An exception all of whose texts begin with this one. Without a name, it has no type. */
  private static Exception failure(String text) {
    return new Exception(text, null, false, false) {
      @Override
      public String toString() {
        return text;
      }
    };
  }

  /**
   * Checks that every text starts with its span's id, and that every link is to it.
   *
   * @return the number of each span's attributes
   */
  private static List<Integer> checkIds(byte[] sent) throws Exception {
    List<Integer> counts = new ArrayList<>();
    for (var group : ExportTraceServiceRequest.parseFrom(sent).getResourceSpansList()) {
      var span = group.getScopeSpans(0).getSpans(0);
      String id = HexFormat.of().formatHex(span.getSpanId().toByteArray());
      assertThat(span.toString())
          .doesNotContainPattern(
              "(name|message|string_value): \"(?!span\"|exception\"|" + id + ")");
      assertThat(span.getLinksList()).allMatch(link -> link.getSpanId().equals(span.getSpanId()));
      counts.add(span.getAttributesCount());
    }
    return counts;
  }
}
