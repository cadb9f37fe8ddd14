package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The limits of a span.
 *
 * @param attributes of a span
 * @param events of a span
 * @param links of a span
 * @param eventAttributes of one event
 * @param linkAttributes of one link
 * @param valueLength UTF-16 units of a text, bytes of a byte array
 * @param bytes a serialized span
 */
record Limits(
    int attributes,
    int events,
    int links,
    int eventAttributes,
    int linkAttributes,
    int valueLength,
    int bytes) {

  /** What OpenTelemetry's specification sets; a span has up to 1 MiB. */
  static final Limits DEFAULT = new Limits(128, 128, 128, 128, 128, Integer.MAX_VALUE, 1 << 20);

  String cut(String text) {
    return text.length() <= valueLength ? text : text.substring(0, valueLength);
  }

  /** A value of any type of attribute, with all texts and byte arrays in it cut. */
  Object cut(Object value) {
    if (valueLength == Integer.MAX_VALUE) {
      return value;
    }
    return switch (value) {
      case String text -> cut(text);
      case List<?> list -> list.stream().map(this::cutElement).toList();
      case Value<?> nested -> cut(nested);
      default -> value;
    };
  }

  private Object cutElement(Object element) {
    return element == null ? null : cut(element);
  }

  private Value<?> cut(Value<?> value) {
    return switch (value.getType()) {
      case STRING -> Value.of(cut((String) value.getValue()));
      case BYTES -> Value.of(cut((ByteBuffer) value.getValue()));
      case ARRAY ->
          Value.of(((List<?>) value.getValue()).stream().<Value<?>>map(this::cutValue).toList());
      case KEY_VALUE_LIST ->
          Value.of(
              ((List<?>) value.getValue())
                  .stream().map(KeyValue.class::cast).map(this::cut).toArray(KeyValue[]::new));
      default -> value;
    };
  }

  private Value<?> cutValue(Object value) {
    return cut((Value<?>) value);
  }

  private KeyValue cut(KeyValue entry) {
    return KeyValue.of(entry.getKey(), cut(entry.getValue()));
  }

  private byte[] cut(ByteBuffer bytes) {
    byte[] kept = new byte[Math.min(bytes.remaining(), valueLength)];
    bytes.duplicate().get(kept);
    return kept;
  }
}
