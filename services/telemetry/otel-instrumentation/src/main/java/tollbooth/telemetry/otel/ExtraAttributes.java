package tollbooth.telemetry.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import java.util.List;
import java.util.stream.IntStream;
import tollbooth.web.SettingsException;

/**
 * Extra attributes, so that a span can have as many as another variant's. Every second one has the
 * same value in all spans, like an agent's name of a client. The others differ between spans, like
 * its name of a thread.
 */
public final class ExtraAttributes {

  /** The number of attributes; default 0. */
  static final String VARIABLE = "TOLLBOOTH_EXTRA_ATTRIBUTES";

  /** Together with a span's own: fewer than the default limit of 128. */
  private static final int MOST = 100;

  private static final List<String> SAME =
      List.of(
          "Apache-HttpClient/5.6.4 (Java/25.0.3)",
          "172.18.0.5",
          "tollbooth.svca.OperationController",
          "linux/amd64",
          "ipv4");

  private static final List<String> CHANGING =
      List.of("tomcat-handler-", "http://a2:8080/op/answer?call=", "a1-worker-", "172.18.0.5:");

  private final List<AttributeKey<String>> keys;

  private ExtraAttributes(int count) {
    keys =
        IntStream.range(0, count)
            .mapToObj(number -> AttributeKey.stringKey("tollbooth.extra.attribute_" + number))
            .toList();
  }

  /**
   * Reads the variable's value.
   *
   * @param text null if it is not set
   * @throws SettingsException if it is not a valid number of attributes
   */
  static ExtraAttributes parse(String text) {
    if (text == null) {
      return new ExtraAttributes(0);
    }
    // At most three digits: any other value is invalid anyway.
    if (!text.matches("[0-9]{1,3}") || Integer.parseInt(text) > MOST) {
      throw new SettingsException(
          VARIABLE + ": must be a whole number from 0 to " + MOST + ", not '" + text + "'");
    }
    return new ExtraAttributes(Integer.parseInt(text));
  }

  /** Adds them to a span that has just started and is recorded; returns the span. */
  public Span addTo(Span span) {
    if (keys.isEmpty() || !span.isRecording()) {
      return span;
    }
    String id = span.getSpanContext().getSpanId();
    for (int i = 0; i < keys.size(); i++) {
      span.setAttribute(keys.get(i), value(i, id));
    }
    return span;
  }

  private static String value(int index, String spanId) {
    int pair = index / 2;
    return index % 2 == 0
        ? SAME.get(pair % SAME.size())
        // As long as the number of a thread or a port, and as hard to compress.
        : CHANGING.get(pair % CHANGING.size()) + spanId.substring(0, 5);
  }
}
