package tollbooth.telemetry.otel.grpc;

import io.grpc.Metadata;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Metadata's keys by name, each made once: there are as many as the propagator has fields. */
final class MetadataKeys {

  private static final Map<String, Metadata.Key<String>> KEYS = new ConcurrentHashMap<>();

  private MetadataKeys() {}

  static Metadata.Key<String> of(String name) {
    return KEYS.computeIfAbsent(
        name, given -> Metadata.Key.of(given, Metadata.ASCII_STRING_MARSHALLER));
  }
}
