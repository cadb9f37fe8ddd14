package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Tracer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** Many threads end spans, one takes them from a small queue: none is lost or twice, uncounted. */
@Timeout(60)
class SpanQueueStressTest {

  private static final int THREADS = 8;
  private static final int SPANS_EACH = 10_000;

  @ParameterizedTest
  @ValueSource(ints = {2, 64, 2_048})
  void everySpanIsTakenOnceOrCountedAsDropped(int capacity) throws Exception {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 8_192, capacity);
    Tracer tracer = harness.provider.get("test");
    for (int i = 0; i <= capacity; i++) {
      tracer.spanBuilder("one too many" + i).startSpan().end();
    }
    assertThat(harness.ledger.counts().queueFull()).isEqualTo(1);
    List<Thread> threads = new ArrayList<>();
    for (int number = 0; number < THREADS; number++) {
      String name = number + ".";
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 0; i < SPANS_EACH; i++) {
                  tracer.spanBuilder(name + i).startSpan().end();
                }
              }));
    }

    List<String> names = new ArrayList<>();
    while (threads.stream().anyMatch(Thread::isAlive) || !harness.queue.isEmpty()) {
      harness.sentSpans().forEach(span -> names.add(span.getName()));
    }

    Set<String> different = new HashSet<>(names);
    assertThat(different).hasSameSizeAs(names);
    Counts counts = harness.ledger.counts();
    assertThat(counts.ended()).isEqualTo(THREADS * SPANS_EACH + capacity + 1);
    assertThat(names.size() + counts.queueFull()).isEqualTo(counts.ended());
  }
}
