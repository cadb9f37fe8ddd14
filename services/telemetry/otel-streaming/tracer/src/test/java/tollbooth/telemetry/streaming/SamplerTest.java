package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The samplers decide as the SDK's of the same name, which add nothing to a span. */
class SamplerTest {

  private static final Random RANDOM = new Random(1);
  private static final TraceState STATE = TraceState.builder().put("one", "1").build();

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.001, 0.25, 0.5, 0.999, 1})
  void samplesTheSameTraces(double ratio) {
    assertSame(
        Sampler.ratio(ratio), io.opentelemetry.sdk.trace.samplers.Sampler.traceIdRatioBased(ratio));
    assertSame(
        Sampler.parentBased(Sampler.ratio(ratio)),
        io.opentelemetry.sdk.trace.samplers.Sampler.parentBased(
            io.opentelemetry.sdk.trace.samplers.Sampler.traceIdRatioBased(ratio)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio"
      })
  void theVariableNamesTheSamplers(String name) {
    Map<String, String> variables =
        Map.of("OTEL_TRACES_SAMPLER", name, "OTEL_TRACES_SAMPLER_ARG", "0.25");
    assertSame(StreamingSettings.parse(variables).sampler(), ofSdk(name));
  }

  static io.opentelemetry.sdk.trace.samplers.Sampler ofSdk(String name) {
    return switch (name) {
      case "always_on" -> io.opentelemetry.sdk.trace.samplers.Sampler.alwaysOn();
      case "always_off" -> io.opentelemetry.sdk.trace.samplers.Sampler.alwaysOff();
      case "traceidratio" -> io.opentelemetry.sdk.trace.samplers.Sampler.traceIdRatioBased(0.25);
      default ->
          io.opentelemetry.sdk.trace.samplers.Sampler.parentBased(
              ofSdk(name.substring("parentbased_".length())));
    };
  }

  private static void assertSame(Sampler ours, io.opentelemetry.sdk.trace.samplers.Sampler theirs) {
    for (int i = 0; i < 10_000; i++) {
      long low = List.of(0L, Long.MIN_VALUE, Long.MAX_VALUE, RANDOM.nextLong()).get(i % 4);
      String trace = TraceId.fromLongs(1, low);
      SpanContext parent = parent(trace, i % 3);
      SamplingResult result =
          theirs.shouldSample(
              Context.root().with(Span.wrap(parent)),
              trace,
              "name",
              SpanKind.INTERNAL,
              Attributes.empty(),
              List.of());
      boolean sampled = result.getDecision() == SamplingDecision.RECORD_AND_SAMPLE;
      assertThat(result.getAttributes().isEmpty()).isTrue();
      assertThat(result.getUpdatedTraceState(STATE)).isEqualTo(STATE);
      assertThat(ours.samples(Sampler.Parent.of(parent), low)).isEqualTo(sampled);
    }
  }

  private static SpanContext parent(String trace, int kind) {
    if (kind == 0) {
      return SpanContext.getInvalid();
    }
    return SpanContext.createFromRemoteParent(
        trace,
        "00000000000000ff",
        kind == 1 ? TraceFlags.getSampled() : TraceFlags.getDefault(),
        STATE);
  }
}
