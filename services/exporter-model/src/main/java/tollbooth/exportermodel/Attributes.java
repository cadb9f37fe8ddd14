package tollbooth.exportermodel;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;

/** Makes attributes. */
final class Attributes {

  private Attributes() {}

  /** Returns an attribute whose value is text, as all of Envoy's are. */
  static KeyValue text(String key, String value) {
    return KeyValue.newBuilder()
        .setKey(key)
        .setValue(AnyValue.newBuilder().setStringValue(value))
        .build();
  }
}
