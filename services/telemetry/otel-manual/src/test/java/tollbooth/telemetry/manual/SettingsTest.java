package tollbooth.telemetry.manual;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tollbooth.gateway.Application;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.StubPeer;
import tollbooth.web.testing.Topologies;

/** The standard variables alone make the steps between absent and exported. */
class SettingsTest {

  /** The lowest of the flags is the decision; the next says that the trace's id is random. */
  private static final String SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]";

  private static final String NOT_SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[02]";

  private final Map<String, String> properties =
      new HashMap<>(
          Map.of(
              "otel.traces.exporter", "discard",
              "otel.metrics.exporter", "none",
              "otel.logs.exporter", "none"));

  @AfterEach
  void forgetProperties() {
    properties.keySet().forEach(System::clearProperty);
  }

  @Test
  void makesSpansThatAreNotSent() throws Exception {
    assertThat(traceParents(1)).singleElement().asString().matches(SAMPLED);
  }

  /** Not the same: where nothing would take a span, today's SDK makes none. */
  @Test
  void makesNoSpanWithoutAnExporter() throws Exception {
    properties.put("otel.traces.exporter", "none");
    assertThat(traceParents(1)).containsOnlyNulls();
  }

  @Test
  void makesNoSpanWhereTheSdkIsDisabled() throws Exception {
    properties.put("otel.sdk.disabled", "true");
    assertThat(traceParents(1)).containsOnlyNulls();
  }

  @Test
  void passesOnThatNothingIsSampled() throws Exception {
    properties.put("otel.traces.sampler", "always_off");
    assertThat(traceParents(1)).singleElement().asString().matches(NOT_SAMPLED);
  }

  @Test
  void samplesAPartOfTheTraces() throws Exception {
    properties.put("otel.traces.sampler", "parentbased_traceidratio");
    properties.put("otel.traces.sampler.arg", "0.5");

    assertThat(traceParents(20))
        .allSatisfy(
            parent -> assertThat(parent).matches(inLowerHalf(parent) ? SAMPLED : NOT_SAMPLED));
  }

  /** The sampler's rule: the last 8 bytes of the trace's id, without their sign, are below. */
  private static boolean inLowerHalf(String traceParent) {
    return Math.abs(Long.parseUnsignedLong(traceParent.substring(19, 35), 16)) < Long.MAX_VALUE / 2;
  }

  /** What the gateway sends with its calls. */
  private List<String> traceParents(int requests) throws Exception {
    properties.forEach(System::setProperty);
    try (StubPeer peer = StubPeer.answering(200);
        RunningNode gateway =
            RunningNode.start(
                Application.class,
                RunningNode.settings("gateway", Topologies.REST, peer.addresses()))) {
      for (int i = 0; i < requests; i++) {
        gateway.get("/a1");
      }
      return peer.header("traceparent");
    }
  }
}
