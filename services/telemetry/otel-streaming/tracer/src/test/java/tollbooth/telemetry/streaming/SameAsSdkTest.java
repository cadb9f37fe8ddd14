package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.internal.otlp.traces.TraceRequestMarshaler;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same random calls make the same decoded spans on the SDK and on this tracer. */
class SameAsSdkTest {

  private static final List<String> TEXTS =
      List.of("", "a", "ümlaut", "日本語", "\ud83d\ude00", "\ud83d", "x\ude00y", "long ".repeat(400));

  private static final List<Throwable> FAILURES =
      List.of(new IllegalStateException("broken"), new Exception(null, new Error("cause")) {});

  private static final List<String> SAMPLERS =
      List.of("always_on", "always_off", "parentbased_always_on", "parentbased_always_off");

  /** What stands for the time of a call that gave none. */
  private static final long NOW = -1;

  static IntStream seeds() {
    return IntStream.range(0, 600);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void sendsWhatTheSdkSends(int seed) throws Exception {
    Random random = new Random(seed);
    boolean unlimited = random.nextBoolean();
    int length = unlimited ? Integer.MAX_VALUE : random.nextInt(8);
    int most = random.nextInt(4);
    int inner = random.nextInt(3);
    Limits limits = new Limits(random.nextInt(11), most, most, inner, inner, length, 1 << 20);
    // Most spans are sampled.
    String sampler = SAMPLERS.get(Math.max(0, random.nextInt(8) - 4));
    Sampler ours = StreamingSettings.parse(Map.of("OTEL_TRACES_SAMPLER", sampler)).sampler();

    Harness harness = new Harness(limits, ours, 4096, 2048);
    List<Object> recording = calls(harness.provider, new Random(seed));
    Made bySdk = bySdk(limits, sampler, seed);

    assertThat(recording).isEqualTo(bySdk.recording());
    assertThat(normal(harness.sent())).isEqualTo(normal(bySdk.groups()));
  }

  /**
   * What the calls made.
   *
   * @param groups with one span each
   * @param recording what {@link SameAsSdkTest#calls} returns
   */
  private record Made(List<ResourceSpans> groups, List<Object> recording) {}

  private static Made bySdk(Limits limits, String sampler, int seed) throws Exception {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    SpanLimits sdkLimits =
        SpanLimits.builder()
            .setMaxNumberOfAttributes(limits.attributes())
            .setMaxNumberOfEvents(limits.events())
            .setMaxNumberOfLinks(limits.links())
            .setMaxNumberOfAttributesPerEvent(limits.eventAttributes())
            .setMaxNumberOfAttributesPerLink(limits.linkAttributes())
            .setMaxAttributeValueLength(limits.valueLength())
            .build();
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(Resource.create(Harness.RESOURCE))
            .setSpanLimits(sdkLimits)
            .setSampler(SamplerTest.ofSdk(sampler))
            .addSpanProcessor(SimpleSpanProcessor.create(spans))
            .build()) {
      List<Object> recording = calls(provider, new Random(seed));
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      TraceRequestMarshaler.create(spans.getFinishedSpanItems()).writeBinaryTo(bytes);
      var request = ExportTraceServiceRequest.parseFrom(bytes.toByteArray());
      var sent = request.getResourceSpansList();
      return new Made(sent.isEmpty() ? sent : apart(sent.getFirst()), recording);
    }
  }

  /** Each span in a group of its own. */
  private static List<ResourceSpans> apart(ResourceSpans group) {
    List<ResourceSpans> groups = new ArrayList<>();
    for (var span : group.getScopeSpans(0).getSpansList()) {
      ResourceSpans.Builder builder = group.toBuilder();
      builder.getScopeSpansBuilder(0).clearSpans().addSpans(span);
      groups.add(builder.build());
    }
    return groups;
  }

  /** A child and its parent, if sampled, without what is random or without an order. */
  private static List<ResourceSpans> normal(List<ResourceSpans> groups) {
    if (groups.isEmpty()) {
      return groups;
    }
    assertThat(groups).hasSize(2);
    ResourceSpans.Builder builder = groups.getFirst().toBuilder();
    var child = builder.getScopeSpansBuilder(0).getSpansBuilder(0);
    var parent = groups.getLast().getScopeSpans(0).getSpans(0);
    assertThat(child.getParentSpanId()).isEqualTo(parent.getSpanId());
    assertThat(child.getTraceId()).isEqualTo(parent.getTraceId());
    child.clearParentSpanId();
    return List.of(normal(builder.build()), normal(groups.getLast()));
  }

  /** Without what is random or without an order. */
  private static ResourceSpans normal(ResourceSpans group) {
    ResourceSpans.Builder builder = group.toBuilder();
    var span = builder.getScopeSpansBuilder(0).getSpansBuilder(0);
    List<io.opentelemetry.proto.common.v1.KeyValue> attributes = sorted(span.getAttributesList());
    span.clearAttributes().addAllAttributes(attributes);
    for (var event : span.getEventsBuilderList()) {
      var eventAttributes = sorted(event.getAttributesList());
      event.clearAttributes().addAllAttributes(eventAttributes);
      event.setTimeUnixNano(given(event.getTimeUnixNano()));
    }
    span.setStartTimeUnixNano(given(span.getStartTimeUnixNano()));
    span.setEndTimeUnixNano(given(span.getEndTimeUnixNano()));
    assertThat(span.getSpanId().size()).isEqualTo(8);
    assertThat(span.getTraceId().size()).isEqualTo(16);
    span.clearSpanId();
    if (span.getParentSpanId().isEmpty()) {
      span.clearTraceId();
    }
    return builder.build();
  }

  /** The calls give times of 1970 only. */
  private static long given(long nanos) {
    Instant time = Instant.EPOCH.plusNanos(nanos);
    if (time.isBefore(Instant.EPOCH.plus(Duration.ofDays(1)))) {
      return nanos;
    }
    assertThat(Duration.between(time, Instant.now()).abs()).isLessThan(Duration.ofMinutes(1));
    return NOW;
  }

  private static List<io.opentelemetry.proto.common.v1.KeyValue> sorted(
      List<io.opentelemetry.proto.common.v1.KeyValue> attributes) {
    return attributes.stream()
        .sorted(Comparator.comparing(io.opentelemetry.proto.common.v1.KeyValue::getKey))
        .toList();
  }

  /**
   * The same calls for the same randomness.
   *
   * @return what {@link #end} returns of the child and of its parent
   */
  private static List<Object> calls(TracerProvider provider, Random random) {
    var scope = provider.tracerBuilder("scope");
    if (random.nextBoolean()) {
      scope.setInstrumentationVersion("1.2");
    }
    if (random.nextBoolean()) {
      scope.setSchemaUrl("https://example.test/schema");
    }
    Tracer tracer = scope.build();
    SpanBuilder builder = tracer.spanBuilder(random.nextInt(10) == 0 ? " " : "name");
    builder.setSpanKind(SpanKind.values()[random.nextInt(5)]);
    builder.setStartTimestamp(time(random, 1_000), TimeUnit.MILLISECONDS);
    if (random.nextInt(4) == 0) {
      incomplete(builder);
    }
    switch (random.nextInt(3)) {
      case 0 -> builder.setNoParent();
      case 1 -> builder.setParent(Context.root().with(Span.wrap(context(random, true))));
      default -> builder.setParent(Context.root().with(Span.wrap(context(random, false))));
    }
    if (random.nextInt(8) == 0) {
      // It takes with it what the builder has. It does not end, so it is not sent.
      attribute(random, builder::setAttribute);
      builder.startSpan();
    }
    for (int i = random.nextInt(6); i > 0; i--) {
      if (random.nextInt(4) == 0) {
        builder.addLink(context(random, random.nextBoolean()), attributes(random));
      } else {
        attribute(random, builder::setAttribute);
      }
    }
    Span span = builder.startSpan();
    attribute(random, builder::setAttribute);
    builder.addLink(context(random, true)).setSpanKind(SpanKind.INTERNAL);
    for (int i = random.nextInt(30); i > 0; i--) {
      call(span, random);
    }
    SpanBuilder childBuilder = tracer.spanBuilder("child");
    childBuilder.setParent(Context.root().with(span));
    childBuilder.setStartTimestamp(time(random, 2_000), TimeUnit.MILLISECONDS);
    List<Object> recording = new ArrayList<>(end(childBuilder.startSpan(), random));
    recording.addAll(end(span, random));
    return recording;
  }

  /** Calls before the end and after it; the context, and whether the span was recording. */
  private static List<Object> end(Span span, Random random) {
    call(span, random);
    boolean before = span.isRecording();
    if (random.nextInt(8) == 0) {
      span.end(1_000, null);
    } else {
      span.end(time(random, 3_000), TimeUnit.MILLISECONDS);
    }
    call(span, random);
    boolean after = span.isRecording();
    span.end();
    SpanContext context = span.getSpanContext();
    return List.of(before, after, context.getTraceFlags().asHex(), context.getTraceState());
  }

  /** A time in the second after this one; 0, which means now, sometimes. */
  private static long time(Random random, long millis) {
    return random.nextInt(8) == 0 ? 0 : millis + random.nextInt(1_000);
  }

  private static void call(Span span, Random random) {
    switch (random.nextInt(13)) {
      case 0 -> span.updateName(text(random));
      case 1 -> span.setStatus(StatusCode.values()[random.nextInt(3)], text(random));
      case 2 ->
          span.addEvent(
              text(random), attributes(random), random.nextInt(1_000_000), TimeUnit.MICROSECONDS);
      case 3 -> span.addLink(context(random, random.nextBoolean()), attributes(random));
      case 4 -> span.setAttribute("key" + random.nextInt(8), text(random));
      case 8 -> span.recordException(FAILURES.get(random.nextInt(2)), attributes(random));
      case 5 -> span.setAttribute("key" + random.nextInt(8), random.nextLong());
      case 6 -> span.setAttribute("key" + random.nextInt(8), random.nextDouble());
      case 7 -> span.setAttribute("key" + random.nextInt(8), random.nextBoolean());
      case 9 -> span.addEvent(text(random), attributes(random));
      case 10 -> incomplete(span);
      default -> attribute(random, span::setAttribute);
    }
  }

  /** Calls without what they need, or with something empty. */
  private static void incomplete(Span span) {
    span.setAttribute("", "text").setAttribute("", 1).setAttribute("", 0.5).setAttribute("", true);
    span.setAttribute((String) null, "text").setAttribute("key0", (String) null);
    span.setAttribute((String) null, 1).setAttribute((String) null, 0.5);
    span.setAttribute((String) null, true).setAttribute((AttributeKey<String>) null, "text");
    span.setAttribute(AttributeKey.stringKey("key0"), null);
    span.setAttribute(AttributeKey.stringArrayKey(""), List.of("text"));
    span.setAttribute(AttributeKey.stringArrayKey("key0"), List.of());
    span.addEvent(null).addEvent("").addEvent(null, Attributes.empty());
    span.addEvent("event", (Attributes) null).addEvent("event", (Instant) null);
    span.addEvent("event", 1, null).addEvent("event", Attributes.empty(), 1, null);
    span.addEvent(null, 1, TimeUnit.SECONDS).addEvent("event", null, 1, TimeUnit.SECONDS);
    span.addLink(null).addLink(null, Attributes.empty()).addLink(SpanContext.getInvalid());
    span.addLink(SpanContext.getInvalid(), Attributes.empty());
    span.setStatus(null).setStatus(null, "text").setStatus(StatusCode.ERROR, null);
    span.updateName(null).recordException(null).recordException(null, Attributes.empty());
    span.recordException(FAILURES.getFirst(), null);
  }

  /** The same of a span that is yet to start. */
  private static void incomplete(SpanBuilder builder) {
    builder.setParent(null).setSpanKind(null);
    builder.setStartTimestamp(-1, TimeUnit.SECONDS).setStartTimestamp(1, null);
    builder.setAttribute("", "text").setAttribute("", 1).setAttribute("", 0.5);
    builder.setAttribute("", true).setAttribute("key0", (String) null);
    builder.setAttribute((String) null, "text").setAttribute((String) null, 1);
    builder.setAttribute((String) null, 0.5).setAttribute((String) null, true);
    builder.setAttribute((AttributeKey<String>) null, "text");
    builder.setAttribute(AttributeKey.stringKey("key0"), null);
    builder.addLink(null).addLink(null, Attributes.empty()).addLink(SpanContext.getInvalid());
    builder.addLink(SpanContext.getInvalid(), Attributes.empty());
  }

  /** One of the methods that set an attribute. */
  private interface Setter {
    Object set(AttributeKey<Object> key, Object value);
  }

  @SuppressWarnings("unchecked")
  private static void attribute(Random random, Setter setter) {
    attributes(random, 1).forEach((key, value) -> setter.set((AttributeKey<Object>) key, value));
  }

  private static Attributes attributes(Random random) {
    return attributes(random, random.nextInt(5));
  }

  private static Attributes attributes(Random random, int count) {
    AttributesBuilder builder = Attributes.builder();
    for (int i = 0; i < count; i++) {
      String key = "key" + random.nextInt(8) + (random.nextInt(8) == 0 ? "\ud83d" : "");
      switch (random.nextInt(9)) {
        case 0 -> builder.put(key, text(random));
        case 1 -> builder.put(key, random.nextLong());
        case 2 -> builder.put(key, random.nextDouble());
        case 3 -> builder.put(key, random.nextBoolean());
        case 4 -> builder.put(key, text(random), text(random));
        case 5 -> builder.put(key, random.nextLong(), 0L);
        case 6 -> builder.put(key, random.nextDouble(), -0.0);
        case 7 -> builder.put(key, true, false);
        default -> builder.put(AttributeKey.valueKey(key), value(random, 3));
      }
    }
    return builder.build();
  }

  private static Value<?> value(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 6 : 8)) {
      case 0 -> Value.of(text(random));
      case 1 -> Value.of(random.nextLong());
      case 2 -> Value.of(random.nextDouble());
      case 3 -> Value.of(random.nextBoolean());
      case 4 -> Value.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9});
      case 5 -> Value.empty();
      case 6 -> Value.of(value(random, depth - 1), value(random, depth - 1));
      default -> Value.of(KeyValue.of("inner", value(random, depth - 1)));
    };
  }

  private static String text(Random random) {
    return TEXTS.get(random.nextInt(TEXTS.size()));
  }

  private static SpanContext context(Random random, boolean remote) {
    String trace = "%016x%016x".formatted(random.nextLong() | 1, random.nextLong());
    String span = "%016x".formatted(random.nextLong() | 1);
    TraceFlags flags = TraceFlags.fromByte((byte) random.nextInt(4));
    TraceState state =
        random.nextBoolean()
            ? TraceState.builder().put("one", "1").put("two", "2").build()
            : TraceState.getDefault();
    return remote
        ? SpanContext.createFromRemoteParent(trace, span, flags, state)
        : SpanContext.create(trace, span, flags, state);
  }
}
