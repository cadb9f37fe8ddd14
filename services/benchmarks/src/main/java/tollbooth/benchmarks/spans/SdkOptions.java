package tollbooth.benchmarks.spans;

import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.export.MemoryMode;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * How OpenTelemetry's SDK sends.
 *
 * @param sender {@code okhttp} or {@code jdk} over HTTP, or {@code grpc}
 * @param batchSize the largest, in spans; {@link #SIMPLE} for a request of each span
 */
record SdkOptions(String sender, int batchSize, boolean gzip, MemoryMode memory) {

  static final int SIMPLE = 0;

  /** What chooses between the HTTP senders on the class path. */
  private static final String PROPERTY = "io.opentelemetry.sdk.common.export.HttpSenderProvider";

  private static final Map<String, String> PROVIDERS =
      Map.of(
          "okhttp",
          "io.opentelemetry.exporter.sender.okhttp.internal.OkHttpHttpSenderProvider",
          "jdk",
          "io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSenderProvider");

  /**
   * Reads options such as {@code okhttp-512}, {@code grpc-2048-gzip}, {@code okhttp-simple} or
   * {@code jdk-512-immutable}: a sender, the largest batch, and what differs from the default.
   */
  static SdkOptions parse(String text) {
    String[] parts = text.split("-");
    List<String> others = Arrays.asList(parts).subList(2, parts.length);
    return new SdkOptions(
        parts[0],
        parts[1].equals("simple") ? SIMPLE : Integer.parseInt(parts[1]),
        others.contains("gzip"),
        others.contains("immutable") ? MemoryMode.IMMUTABLE_DATA : MemoryMode.REUSABLE_DATA);
  }

  /** Makes an exporter to a backend. */
  SpanExporter exporter(String url) {
    String compression = gzip ? "gzip" : "none";
    if (sender.equals("grpc")) {
      return OtlpGrpcSpanExporter.builder()
          .setEndpoint(url)
          .setCompression(compression)
          .setMemoryMode(memory)
          .build();
    }
    System.setProperty(PROPERTY, PROVIDERS.get(sender));
    return OtlpHttpSpanExporter.builder()
        .setEndpoint(url + "/v1/traces")
        .setCompression(compression)
        .setMemoryMode(memory)
        .build();
  }
}
