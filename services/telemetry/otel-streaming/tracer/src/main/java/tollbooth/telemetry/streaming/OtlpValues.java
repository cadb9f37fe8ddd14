package tollbooth.telemetry.streaming;

import static tollbooth.telemetry.streaming.Protobuf.BYTES;
import static tollbooth.telemetry.streaming.Protobuf.FIXED64;
import static tollbooth.telemetry.streaming.Protobuf.VARINT;
import static tollbooth.telemetry.streaming.Protobuf.bytesSize;
import static tollbooth.telemetry.streaming.Protobuf.tag;
import static tollbooth.telemetry.streaming.Protobuf.varintSize;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import java.nio.ByteBuffer;
import java.util.List;

/** OTLP's messages KeyValue and AnyValue, for values of any type. */
final class OtlpValues {

  private static final int STRING_VALUE = 1;
  private static final int BOOL_VALUE = 2;
  private static final int INT_VALUE = 3;
  private static final int DOUBLE_VALUE = 4;
  private static final int ARRAY_VALUE = 5;
  private static final int KEY_VALUE_LIST = 6;
  private static final int BYTES_VALUE = 7;

  private OtlpValues() {}

  /** The size of all attributes as fields of their message. */
  static int entriesSize(Attributes attributes) {
    int[] size = new int[1];
    attributes.forEach((key, value) -> size[0] += bytesSize(entrySize(key.getKey(), value)));
    return size[0];
  }

  /** Appends a KeyValue; nothing if it is too deep for the stack. */
  static void putEntry(Chain out, int field, String key, Object value) {
    int bytes = entrySize(key, value);
    int start = out.length();
    try {
      out.put(tag(field, BYTES));
      out.putVarint(bytes);
      Protobuf.putText(out, 1, key);
      out.put(tag(2, BYTES));
      out.putVarint(size(value));
      put(out, value);
    } finally {
      out.endField(start, bytesSize(bytes));
    }
  }

  private static int entrySize(String key, Object value) {
    return Protobuf.textSize(key) + bytesSize(size(value));
  }

  private static int size(Object value) {
    return switch (value) {
      case String text -> bytesSize(Utf8.length(text));
      case Boolean flag -> 2;
      case Long number -> 1 + varintSize(number);
      case Double number -> 1 + Double.BYTES;
      case ByteBuffer bytes -> bytesSize(bytes.remaining());
      case List<?> list -> bytesSize(listSize(list));
      case Value<?> nested -> size(nested.getValue());
      default -> 0;
    };
  }

  private static int listSize(List<?> list) {
    int size = 0;
    for (Object element : list) {
      size += bytesSize(elementSize(element));
    }
    return size;
  }

  private static int elementSize(Object element) {
    if (element == null) {
      return 0;
    }
    return element instanceof KeyValue entry
        ? entrySize(entry.getKey(), entry.getValue())
        : size(element);
  }

  private static void put(Chain out, Object value) {
    switch (value) {
      case String text -> {
        int bytes = Utf8.length(text);
        out.put(tag(STRING_VALUE, BYTES));
        out.putVarint(bytes);
        out.putText(text, bytes);
      }
      case Boolean flag -> {
        out.put(tag(BOOL_VALUE, VARINT));
        out.put(flag ? 1 : 0);
      }
      case Long number -> {
        out.put(tag(INT_VALUE, VARINT));
        out.putVarint(number);
      }
      case Double number -> {
        out.put(tag(DOUBLE_VALUE, FIXED64));
        out.putFixed64(Double.doubleToRawLongBits(number));
      }
      case ByteBuffer bytes -> {
        out.put(tag(BYTES_VALUE, BYTES));
        out.putVarint(bytes.remaining());
        out.put(bytes.duplicate());
      }
      case List<?> list -> putList(out, list, ARRAY_VALUE);
      case Value<?> nested -> putNested(out, nested);
      default -> {
        // Nothing else is an attribute's value: an AnyValue without a value.
      }
    }
  }

  private static void putNested(Chain out, Value<?> nested) {
    switch (nested.getType()) {
      case KEY_VALUE_LIST -> putList(out, (List<?>) nested.getValue(), KEY_VALUE_LIST);
      case EMPTY -> {
        // An AnyValue without a value.
      }
      default -> put(out, nested.getValue());
    }
  }

  private static void putList(Chain out, List<?> list, int field) {
    out.put(tag(field, BYTES));
    out.putVarint(listSize(list));
    for (Object element : list) {
      if (element instanceof KeyValue entry) {
        putEntry(out, 1, entry.getKey(), entry.getValue());
      } else {
        out.put(tag(1, BYTES));
        out.putVarint(elementSize(element));
        if (element != null) {
          put(out, element);
        }
      }
    }
  }
}
