package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Tracer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** Many threads end spans, one takes them from a small queue: none is lost or twice, uncounted. */
@Timeout(60)
class SpanQueueStressTest {

  private static final int THREADS = 8;
  private static final int SPANS_EACH = 10_000;

  /** Half of the threads are virtual. */
  private static Thread ending(int number, Tracer tracer) {
    Thread.Builder builder = number % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
    return builder.start(() -> {
      for (int i = 0; i < SPANS_EACH; i++) {
        String name = number + "." + i;
        tracer.spanBuilder(name).startSpan().setAttribute("name", name).end();
      }
    });
  }

  private static boolean anyRuns(List<Thread> threads) {
    return threads.stream().anyMatch(Thread::isAlive);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 64, 2_048})
  void everySpanIsTakenOnceOrCountedAsDropped(int capacity) {
    Harness harness = new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 8_192, capacity);
    Tracer tracer = harness.provider.get("test");
    List<Thread> threads = new ArrayList<>();
    for (int number = 0; number < THREADS; number++) {
      threads.add(ending(number, tracer));
    }
    // None is taken before the queue was full. So some are taken, and some are dropped.
    while (harness.ledger.counts().queueFull() == 0 && anyRuns(threads)) {
      Thread.onSpinWait();
    }
    List<String> names = new ArrayList<>();
    while (anyRuns(threads) || !harness.queue.isEmpty()) {
      for (var span : harness.sentSpans()) {
        names.add(span.getName());
        assertThat(span.getAttributes(0).getValue().getStringValue()).isEqualTo(span.getName());
      }
    }

    Counts counts = harness.ledger.counts();
    assertThat(counts)
        .isEqualTo(new Counts(THREADS * SPANS_EACH, 0, counts.queueFull(), 0, 0, 0, 0));
    assertThat(counts.queueFull()).isPositive();
    assertThat(names)
        .hasSizeGreaterThanOrEqualTo(capacity)
        .hasSize((int) (counts.ended() - counts.queueFull()));
    assertThat(new HashSet<>(names)).hasSameSizeAs(names);
  }
}
