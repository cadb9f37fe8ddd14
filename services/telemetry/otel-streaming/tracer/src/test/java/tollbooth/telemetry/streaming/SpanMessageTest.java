package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;
import tollbooth.telemetry.recorder.Message;

/** Spans on their way; that each is complete alone, {@link SameAsSdkTest} shows. */
class SpanMessageTest {

  private static void end(Harness harness, String scope, String name) {
    harness
        .provider
        .get(scope)
        .spanBuilder(name)
        .setAttribute("text", "x".repeat(2_000))
        .startSpan()
        .end();
  }

  @Test
  void spansOfOneScopeShareTheirResource() throws Exception {
    Harness harness = Harness.grouped();
    end(harness, "scope", "one");
    end(harness, "scope", "two");
    Message one = harness.queue.poll();
    Message two = harness.queue.poll();

    assertThat(one.sharesHeadWith(two)).isTrue();
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    Harness.append(request, one.groupHead((long) one.sizeBytes() + two.sizeBytes()));
    Harness.append(request, one);
    Harness.append(request, two);

    var groups = ExportTraceServiceRequest.parseFrom(request.toByteArray()).getResourceSpansList();
    assertThat(groups).hasSize(1);
    assertThat(groups.getFirst().getResource().getAttributes(0).getValue().getStringValue())
        .isEqualTo("a1");
    assertThat(groups.getFirst().getScopeSpansList()).hasSize(1);
    assertThat(groups.getFirst().getScopeSpans(0).getScope().getName()).isEqualTo("scope");
    assertThat(groups.getFirst().getScopeSpans(0).getSpansList())
        .extracting(span -> span.getName())
        .containsExactly("one", "two");
  }

  @Test
  void spansOfOtherScopesDoNot() {
    Harness harness = Harness.grouped();
    end(harness, "scope", "one");
    end(harness, "other", "two");

    assertThat(harness.queue.poll().sharesHeadWith(harness.queue.poll())).isFalse();
  }

  @Test
  void aSpanAloneHasNoHeadToShare() {
    Harness harness = Harness.of(Limits.DEFAULT);
    end(harness, "scope", "one");
    end(harness, "scope", "two");
    Message one = harness.queue.poll();

    assertThat(one.sharesHeadWith(harness.queue.poll())).isFalse();
    assertThat(one.groupHead(one.sizeBytes())).isNull();
  }

  @Test
  void givesItsBuffersBack() {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 8, 8);
    for (int i = 0; i < 100; i++) {
      end(harness, "scope", "span" + i);
      harness.queue.poll().release();
    }

    assertThat(harness.buffers.existing()).isLessThanOrEqualTo(8);
    assertThat(harness.ledger.counts().queueFull()).isZero();
  }
}
