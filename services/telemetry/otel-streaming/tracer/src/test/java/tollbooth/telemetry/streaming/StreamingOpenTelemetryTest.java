package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.Headers;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.streaming.testing.StubBackend;

/** Spans from their start to a backend that decodes them. */
@Timeout(60)
class StreamingOpenTelemetryTest {

  private static final int SPANS = 1_000;
  private static final int REQUESTS = 10;

  private static StreamingOpenTelemetry start(String... namesAndValues) {
    Map<String, String> variables = new HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      variables.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return StreamingOpenTelemetry.start(StreamingSettings.parse(variables));
  }

  /** The names of the spans that {@link #makeSpans} makes. */
  private static List<String> names() {
    return IntStream.range(0, SPANS).mapToObj(i -> "span" + i).toList();
  }

  /** Makes spans on four threads, in two scopes. */
  private static void makeSpans(StreamingOpenTelemetry telemetry) throws InterruptedException {
    List<Tracer> tracers = List.of(telemetry.getTracer("even"), telemetry.getTracer("odd"));
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      int first = thread;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int i = first; i < SPANS; i += 4) {
                  Span span = tracers.get(i % 2).spanBuilder("span" + i).startSpan();
                  span.setAttribute("number", i).setAttribute("text", "x".repeat(i % 3_000)).end();
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chunk-per-span", "chunk-per-write", "group-per-write"})
  void sendsEverySpanOnce(String framing) throws Exception {
    try (StubBackend backend = new StubBackend();
        StreamingOpenTelemetry telemetry =
            start(
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                backend.url(),
                "OTEL_SERVICE_NAME",
                "a1",
                "TOLLBOOTH_SPAN_FRAMING",
                framing)) {
      makeSpans(telemetry);
      assertThat(telemetry.forceFlush(Duration.ofSeconds(30))).isTrue();

      assertThat(backend.spans())
          .extracting(io.opentelemetry.proto.trace.v1.Span::getName)
          .containsExactlyInAnyOrderElementsOf(names());
      assertThat(backend.spans()).allMatch(span -> span.getAttributesCount() == 2);
      assertThat(backend.groups()).allSatisfy(StreamingOpenTelemetryTest::assertOfOneScope);
      if (!framing.equals("group-per-write")) {
        assertThat(backend.groups()).hasSize(SPANS);
      }
      assertThat(telemetry.counts()).isEqualTo(new Counts(SPANS, SPANS, 0, 0, 0, 0, 0));
    }
  }

  /** Complete, and with the spans of its scope only. */
  private static void assertOfOneScope(ResourceSpans group) {
    assertThat(group.getResource().getAttributesList())
        .anyMatch(attribute ->
            attribute.getKey().equals("service.name")
                && attribute.getValue().getStringValue().equals("a1"));
    assertThat(group.getScopeSpansList()).hasSize(1);
    int odd = group.getScopeSpans(0).getScope().getName().equals("odd") ? 1 : 0;
    assertThat(group.getScopeSpans(0).getSpansList())
        .isNotEmpty()
        .allMatch(span -> Integer.parseInt(span.getName().substring(4)) % 2 == odd);
  }

  /** The recorder takes spans from the queue while threads find it full. */
  @ParameterizedTest
  @ValueSource(strings = {"2", "64"})
  void sendsEverySpanOnceOrCountsItAsDropped(String queueSize) throws Exception {
    try (StubBackend backend = new StubBackend();
        StreamingOpenTelemetry telemetry =
            start(
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                backend.url(),
                "OTEL_BSP_MAX_QUEUE_SIZE",
                queueSize)) {
      int made = 0;
      do {
        makeSpans(telemetry);
        made += SPANS;
      } while (telemetry.counts().queueFull() == 0);
      assertThat(telemetry.forceFlush(Duration.ofSeconds(30))).isTrue();

      Counts counts = telemetry.counts();
      long sent = counts.acknowledged();
      assertThat(sent).isPositive();
      assertThat(counts).isEqualTo(new Counts(made, sent, made - sent, 0, 0, 0, 0));
      assertThat(backend.spans())
          .hasSize((int) sent)
          .allMatch(span -> span.getAttributesCount() == 2)
          .extracting(span -> span.getSpanId())
          .doesNotHaveDuplicates();
    }
  }

  /** The first spans may come before both endpoints are connected. */
  @Test
  void spreadsSpansOverEndpoints() throws Exception {
    try (StubBackend one = new StubBackend();
        StubBackend two = new StubBackend();
        StreamingOpenTelemetry telemetry =
            start(
                "TOLLBOOTH_SPAN_ENDPOINTS",
                one.url() + "," + two.url(),
                "OTEL_EXPORTER_OTLP_HEADERS",
                "x-key=secret")) {
      List<String> made = new ArrayList<>();
      do {
        makeSpans(telemetry);
        made.addAll(names());
        assertThat(telemetry.forceFlush(Duration.ofSeconds(30))).isTrue();
      } while (one.spans().isEmpty() || two.spans().isEmpty());

      List<String> names = new ArrayList<>();
      one.spans().forEach(span -> names.add(span.getName()));
      two.spans().forEach(span -> names.add(span.getName()));
      assertThat(names).containsExactlyInAnyOrderElementsOf(made);
      assertThat(one.headers()).allMatch(StreamingOpenTelemetryTest::hasKey);
      assertThat(two.headers()).allMatch(StreamingOpenTelemetryTest::hasKey);
    }
  }

  private static boolean hasKey(Headers headers) {
    return "secret".equals(headers.getFirst("x-key"));
  }

  @Test
  void sendsARequestAfterTheDelay() throws Exception {
    try (StubBackend backend = new StubBackend();
        StreamingOpenTelemetry telemetry =
            start(
                "OTEL_EXPORTER_OTLP_ENDPOINT", backend.url(), "OTEL_BSP_SCHEDULE_DELAY", "20ms")) {
      long startNanos = System.nanoTime();
      for (int sent = 0; sent < REQUESTS; sent++) {
        long before = sent;
        telemetry.getTracer("test").spanBuilder("span").startSpan().end();
        await().until(() -> telemetry.counts().acknowledged() > before);
      }
      // With the default delay of a second, each request would take that long.
      assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
          .isLessThan(Duration.ofSeconds(REQUESTS / 2));
    }
  }

  @Test
  void sendsTheRestWhenItIsClosed() throws Exception {
    try (StubBackend backend = new StubBackend()) {
      StreamingOpenTelemetry telemetry = start("OTEL_EXPORTER_OTLP_ENDPOINT", backend.url());
      makeSpans(telemetry);
      telemetry.close();
      telemetry.close();

      assertThat(backend.spans()).hasSize(SPANS);
      assertThat(telemetry.counts()).isEqualTo(new Counts(SPANS, SPANS, 0, 0, 0, 0, 0));
      assertThat(telemetry.getTracer("even").spanBuilder("late").startSpan().isRecording())
          .isFalse();
    }
  }

  @Test
  void closesInTimeWithoutABackend() throws Exception {
    StreamingOpenTelemetry telemetry =
        start("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1", "OTEL_BSP_MAX_QUEUE_SIZE", "64");
    makeSpans(telemetry);
    long startNanos = System.nanoTime();
    telemetry.close();

    assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(Duration.ofSeconds(5));
    Counts counts = telemetry.counts();
    assertThat(counts.ended()).isEqualTo(SPANS);
    assertThat(counts.acknowledged()).isZero();
    assertThat(counts.queueFull()).isPositive();
    assertThat(counts.balanced()).isTrue();
  }

  /** The system takes the connection, and what fits into its buffers. */
  @Test
  void flushesAndClosesInTimeWhereTheBackendNeverReads() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      StreamingOpenTelemetry telemetry =
          start("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + silent.getLocalPort());
      makeSpans(telemetry);
      Duration bound = Duration.ofMillis(100);
      long startNanos = System.nanoTime();
      assertThat(telemetry.forceFlush(bound)).isFalse();
      long flushedNanos = System.nanoTime();
      assertThat(Duration.ofNanos(flushedNanos - startNanos))
          .isBetween(bound, Duration.ofSeconds(3));
      telemetry.close();

      assertThat(Duration.ofNanos(System.nanoTime() - flushedNanos))
          .isLessThan(Duration.ofSeconds(5));
      assertThat(telemetry.counts()).isEqualTo(new Counts(SPANS, 0, 0, 0, 0, SPANS, 0));
    }
  }

  @Test
  void recordsAndDiscards() throws Exception {
    try (StreamingOpenTelemetry telemetry = start("OTEL_TRACES_EXPORTER", "discard")) {
      assertThat(telemetry.getTracer("test").spanBuilder("span").startSpan().isRecording())
          .isTrue();
      makeSpans(telemetry);
      assertThat(telemetry.forceFlush(Duration.ofSeconds(30))).isTrue();
      assertThat(telemetry.counts()).isEqualTo(new Counts(SPANS, SPANS, 0, 0, 0, 0, 0));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"})
  void makesNoSpanButPassesContextsOn(String variable) {
    String[] pair = variable.split("=");
    try (StreamingOpenTelemetry telemetry = start(pair[0], pair[1])) {
      Map<String, String> carrier = new HashMap<>();
      Span span = telemetry.getTracer("test").spanBuilder("span").startSpan();
      telemetry
          .getPropagators()
          .getTextMapPropagator()
          .inject(Context.root().with(span), carrier, Map::put);

      assertThat(span.isRecording()).isFalse();
      assertThat(carrier).isEmpty();
      assertThat(telemetry.getPropagators().getTextMapPropagator().fields()).isNotEmpty();

      String trace = "0af7651916cd43dd8448eb211c80319c";
      String id = "b7ad6b7169203331";
      SpanContext caller =
          SpanContext.createFromRemoteParent(
              trace, id, TraceFlags.getSampled(), TraceState.getDefault());
      Context incoming = Context.root().with(Span.wrap(caller));
      Span child = telemetry.getTracer("test").spanBuilder("child").setParent(incoming).startSpan();
      telemetry
          .getPropagators()
          .getTextMapPropagator()
          .inject(incoming.with(child), carrier, Map::put);

      assertThat(child.isRecording()).isFalse();
      assertThat(carrier).isEqualTo(Map.of("traceparent", "00-" + trace + "-" + id + "-01"));
      assertThat(telemetry.counts()).isEqualTo(new Counts(0, 0, 0, 0, 0, 0, 0));
    }
  }
}
