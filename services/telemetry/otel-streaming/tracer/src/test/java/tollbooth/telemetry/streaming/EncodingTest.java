package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** Texts and keys of sizes at which the encoding differs. */
class EncodingTest {

  private static final AttributeKey<List<String>> LIST = AttributeKey.stringArrayKey("list");

  private final Harness harness = Harness.of(Limits.DEFAULT);
  private final Tracer tracer = harness.provider.get("test");

  /** One byte of length and two, a piece of a buffer, several buffers. */
  @ParameterizedTest
  @ValueSource(strings = {"x", "ü", "日", "\ud83d\ude00"})
  void textsOfEveryLength(String unit) {
    for (int length = 0; length < 1_100; length++) {
      String text = "a".repeat(length) + unit;
      Span span = tracer.spanBuilder(text).startSpan();
      span.setAttribute("first", text).setAttribute("second", text).end();

      var sent = harness.sentSpans().getFirst();
      assertThat(sent.getName()).isEqualTo(text);
      assertThat(sent.getAttributesList())
          .extracting(attribute -> attribute.getValue().getStringValue())
          .containsExactly(text, text);
    }
  }

  @Test
  void keysOfEveryLength() {
    for (int length = 1; length < 1_100; length++) {
      String key = "k".repeat(length);
      Span span = tracer.spanBuilder("span").startSpan();
      span.setAttribute(key, "first").setAttribute(key + "l", Long.MIN_VALUE);
      span.setAttribute(key + "d", 0.5).setAttribute(key + "b", true).setAttribute(key, "last");
      span.end();

      var attributes = harness.sentSpans().getFirst().getAttributesList();
      assertThat(attributes)
          .extracting(attribute -> attribute.getKey())
          .containsExactly(key + "l", key + "d", key + "b", key);
      assertThat(attributes.get(0).getValue().getIntValue()).isEqualTo(Long.MIN_VALUE);
      assertThat(attributes.get(1).getValue().getDoubleValue()).isEqualTo(0.5);
      assertThat(attributes.get(2).getValue().getBoolValue()).isTrue();
      assertThat(attributes.get(3).getValue().getStringValue()).isEqualTo("last");
    }
  }

  @Test
  void moreKeysThanAreKept() {
    for (int i = 0; i < 3_000; i++) {
      Span span = tracer.spanBuilder("span").startSpan();
      span.setAttribute("key" + i, "first").setAttribute("key0", "other");
      span.setAttribute("key" + i, "last").end();

      var attributes = harness.sentSpans().getFirst().getAttributesList();
      assertThat(attributes).hasSize(i == 0 ? 1 : 2);
      assertThat(attributes.getLast().getKey()).isEqualTo("key" + i);
      assertThat(attributes.getLast().getValue().getStringValue()).isEqualTo("last");
    }
  }

  @Test
  void replacesValuesInAnyBuffer() {
    Span span = tracer.spanBuilder("span").startSpan();
    for (int i = 0; i < 100; i++) {
      span.setAttribute("key" + i % 30, "x".repeat(37 * (i % 50)) + i);
    }
    span.end();

    var attributes = harness.sentSpans().getFirst().getAttributesList();
    assertThat(attributes).hasSize(30);
    for (int i = 0; i < 30; i++) {
      int last = 70 + i;
      assertThat(attributes.get(i).getKey()).isEqualTo("key" + last % 30);
      assertThat(attributes.get(i).getValue().getStringValue())
          .isEqualTo("x".repeat(37 * (last % 50)) + last);
    }
  }

  /** Each time the bytes are compacted, all others move. */
  @Test
  void replacesAValueManyTimes() {
    Span span = tracer.spanBuilder("span").startSpan();
    span.setAttribute("before", "first").setAttribute("before", "one");
    for (int i = 0; i < 100_000; i++) {
      span.setAttribute("progress", i);
      if (i == 50_000) {
        span.setAttribute("middle", "first").addEvent("event");
      }
    }
    span.setAttribute("middle", "two").setAttribute("after", "three").end();

    var sent = harness.sentSpans().getFirst();
    assertThat(sent.getName()).isEqualTo("span");
    assertThat(sent.getEvents(0).getName()).isEqualTo("event");
    assertThat(sent.getAttributesList())
        .extracting(attribute -> attribute.getKey())
        .containsExactly("before", "progress", "middle", "after");
    assertThat(sent.getAttributesList())
        .extracting(attribute -> attribute.getValue().getStringValue())
        .containsExactly("one", "", "two", "three");
    assertThat(sent.getAttributes(1).getValue().getIntValue()).isEqualTo(99_999);
    assertThat(harness.buffers.existing()).isLessThan(20);
  }

  @Test
  void replacedValuesDoNotCountTowardsTheLimit() {
    String large = "x".repeat(600_000);
    Span span = tracer.spanBuilder("span").startSpan().setAttribute("large", large);
    for (int i = 0; i < 100_000; i++) {
      span.setAttribute("progress", i);
    }
    span.end();

    var attributes = harness.sentSpans().getFirst().getAttributesList();
    assertThat(attributes)
        .extracting(attribute -> attribute.getKey())
        .containsExactly("large", "progress");
    assertThat(attributes.getFirst().getValue().getStringValue()).isEqualTo(large);
    assertThat(attributes.getLast().getValue().getIntValue()).isEqualTo(99_999);
  }

  @Test
  void encodesAKeyOnce() {
    AtomicInteger encodings = new AtomicInteger();
    Keys keys =
        new Keys(name -> {
          encodings.incrementAndGet();
          return new byte[0];
        });
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 1_024; i++) {
        assertThat(keys.get(new String("key" + i)).id()).isEqualTo(i);
      }
    }
    assertThat(encodings).hasValue(1_024);
    assertThat(keys.get("one more").id()).isEqualTo(Key.NONE);
  }

  /** Its texts become longer with each reading. */
  private static List<String> growing(Runnable reading) {
    AtomicInteger reads = new AtomicInteger();
    return new AbstractList<>() {
      @Override
      public String get(int index) {
        reading.run();
        return "x".repeat(reads.incrementAndGet());
      }

      @Override
      public int size() {
        return 2;
      }
    };
  }

  @Test
  void aListIsCopiedFirst() {
    Span span = tracer.spanBuilder("span").setAttribute(LIST, growing(() -> {})).startSpan();
    span.setAttribute(
        AttributeKey.stringArrayKey("late"), growing(() -> span.setAttribute("read", true)));
    span.end();

    var sent = harness.sentSpans().getFirst().getAttributesList();
    assertThat(sent).hasSize(3);
    for (int i = 0; i < 3; i += 2) {
      assertThat(sent.get(i).getValue().getArrayValue().getValuesList())
          .extracting(value -> value.getStringValue())
          .containsExactly("x", "xx");
    }
  }

  @Test
  void aListThatChangesInAnEventOrLinkCostsItsSpanOnly() {
    Span whole = tracer.spanBuilder("whole").startSpan();
    Attributes changing = Attributes.of(LIST, growing(() -> {}));
    tracer.spanBuilder("event").startSpan().addEvent("event", changing).end();
    tracer.spanBuilder("link").addLink(whole.getSpanContext(), changing).startSpan().end();
    whole.end();

    assertThat(harness.sentSpans()).extracting(span -> span.getName()).containsExactly("whole");
    assertThat(harness.ledger.counts()).isEqualTo(new Counts(3, 0, 0, 0, 0, 2, 0));
  }

  @Test
  void aValueTooDeepForTheStackLeavesNothing() {
    Value<?> value = Value.of("x");
    for (int i = 0; i < 100_000; i++) {
      value = Value.of(value);
    }
    Value<?> deep = value;
    Span span = tracer.spanBuilder("span").startSpan();
    assertThatThrownBy(() -> span.setAttribute(AttributeKey.valueKey("key"), deep))
        .isInstanceOf(StackOverflowError.class);
    span.setAttribute("key", "first").setAttribute("key", "last").end();

    assertThat(harness.sentSpans().getFirst().getAttributesList())
        .extracting(attribute -> attribute.getValue().getStringValue())
        .containsExactly("last");
  }

  @Test
  void aNullInAListIsNotCut() {
    List<Long> list = Arrays.asList(1L, null);
    assertThat(new Limits(1, 1, 1, 1, 1, 5, 1).cut(list)).isEqualTo(list);
  }

  @Test
  void anExceptionMayCallItsSpan() {
    Span span = tracer.spanBuilder("span").startSpan();
    span.recordException(
        new IllegalStateException() {
          @Override
          public String getMessage() {
            span.setAttribute("called", true);
            return "message";
          }
        });
    span.end();

    var sent = harness.sentSpans().getFirst();
    assertThat(sent.getAttributesList()).hasSize(1);
    assertThat(sent.getEventsCount()).isEqualTo(1);
  }
}
