package tollbooth.telemetry.otel.grpc;

import io.grpc.Metadata;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The metadata keys of the propagator's fields, each created once. */
final class MetadataKeys {

  private static final Map<String, Metadata.Key<String>> KEYS = new ConcurrentHashMap<>();

  private MetadataKeys() {}

  static Metadata.Key<String> of(String name) {
    return KEYS.computeIfAbsent(
        name, given -> Metadata.Key.of(given, Metadata.ASCII_STRING_MARSHALLER));
  }
}
