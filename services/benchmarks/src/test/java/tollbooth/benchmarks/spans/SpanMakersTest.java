package tollbooth.benchmarks.spans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every opponent delivers what it makes; a benchmark would otherwise measure other work. */
@Timeout(60)
class SpanMakersTest {

  private static final int SPANS = 100;

  @ParameterizedTest
  @ValueSource(strings = {"none", "late", "mutex", "streaming-discard", "sdk-discard"})
  void deliversWithoutABackend(String name) {
    try (SpanMaker maker = SpanMakers.start(name, null, 1_024)) {
      makeAll(maker);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "streaming-chunk-per-span",
        "streaming-chunk-per-write",
        "streaming-group-per-write",
        "sdk-okhttp-512",
        "sdk-okhttp-512-immutable",
        "sdk-okhttp-simple",
        "sdk-jdk-2048",
        "sdk-grpc-512",
        "late-http"
      })
  void deliversToTheBackend(String name) {
    try (Backend backend = SpanMakers.backend(name);
        SpanMaker maker = SpanMakers.start(name, backend.url(), 4_096)) {
      makeAll(maker);
      // Ten attributes of some 30 bytes, with their tags and lengths.
      assertThat(backend.bodyBytes() / SPANS).isBetween(300L, 1_000L);
      assertThat(backend.cpuNs()).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sdk-okhttp-512-gzip",
        "sdk-jdk-512-gzip",
        "sdk-grpc-512-gzip",
        "streaming-chunk-per-write-gzip",
        "streaming-group-per-write-gzip"
      })
  void compresses(String name) {
    try (Backend backend = SpanMakers.backend(name);
        SpanMaker maker = SpanMakers.start(name, backend.url(), 4_096)) {
      makeAll(maker);
      assertThat(backend.bodyBytes() / SPANS).isBetween(10L, 200L);
    }
  }

  /** In bytes, with or without the resource of each span. */
  @ParameterizedTest
  @CsvSource({
    "EVENTS, 550, 1000",
    "LINKS, 400, 800",
    "LONG_STRINGS, 10100, 10800",
    "CURRENT, 300, 1000",
    "INJECTED, 300, 1000"
  })
  void deliversSpansOfEveryShape(SpanShape shape, long least, long most) {
    for (String name : List.of("streaming-chunk-per-write", "sdk-okhttp-512")) {
      try (Backend backend = SpanMakers.backend(name);
          SpanMaker maker = SpanMakers.start(name, backend.url(), 4_096)) {
        for (int i = 0; i < SPANS; i++) {
          shape.make(((ApiMaker) maker).tracer());
        }
        Delivery.settle(maker, SPANS);
        assertThat(backend.bodyBytes() / SPANS).as(name).isBetween(least, most);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"streaming-stuck", "sdk-stuck"})
  void nobodyTakesSpansFromAStuckQueue(String name) {
    try (SpanMaker maker = SpanMakers.start(name, null, 1_024)) {
      for (int i = 0; i < 10 * 1_024; i++) {
        maker.make(10);
      }
      assertThat(maker.delivered()).isZero();
    }
  }

  /** In one of a few attempts: once a second, the SDK takes what there is. */
  @Test
  void nobodyTakesTheSdksSpansInTheMeasuredTime() throws InterruptedException {
    long taken = Long.MAX_VALUE;
    try (SpanMaker maker = SpanMakers.startHolding("sdk-discard", 4_096)) {
      for (long made = 0; made < 3_000; made += 1_000) {
        for (int i = 0; i < 1_000; i++) {
          maker.make(0);
        }
        Thread.sleep(50);
        taken = Math.min(taken, maker.delivered() - made);
        Delivery.settle(maker, made + 1_000);
      }
    }
    assertThat(taken).isZero();
  }

  private static void makeAll(SpanMaker maker) {
    for (int i = 0; i < SPANS; i++) {
      maker.make(10);
    }
    Delivery.settle(maker, SPANS);
  }

  @Test
  void aDroppedSpanIsAnError() {
    try (SpanMaker maker = new LateMaker(10)) {
      for (int i = 0; i < 11; i++) {
        maker.make(0);
      }
      assertThatThrownBy(() -> Delivery.settle(maker, 11))
          .hasMessage("10 of 11 spans were delivered");
    }
  }
}
