package tollbooth.telemetry.recorder;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How spans are sent.
 *
 * @param endpoints one connection each; the same one twice makes two connections
 * @param headers added to every request
 * @param requestAge after which a request ends; a backend decodes only complete requests
 * @param requestBytes size of its body, without framing, before it ends; a larger span is dropped
 * @param retainedBytes bound on all bytes kept until acknowledged; above it spans stay in the queue
 * @param sendBufferBytes the socket's {@code SO_SNDBUF}: small, so that a slow endpoint pushes back
 * @param flushInterval how often the queue is looked at while spans come; up to ten times as long
 *     without any
 * @param timeout from the end of a request, or from the last written byte, to its answer
 * @param gzip whether each chunk is compressed; its spans share it
 */
public record RecorderSettings(
    List<Endpoint> endpoints,
    Map<String, String> headers,
    Duration requestAge,
    int requestBytes,
    long retainedBytes,
    int sendBufferBytes,
    Duration flushInterval,
    Duration timeout,
    Framing framing,
    boolean gzip,
    Routing routing) {

  /**
   * Checks what must fit together.
   *
   * @throws IllegalArgumentException if spans that share no chunk are to be compressed
   */
  public RecorderSettings {
    if (gzip && framing == Framing.CHUNK_PER_SPAN) {
      throw new IllegalArgumentException("a chunk for each span is not compressed");
    }
  }

  /** The defaults for these endpoints: a request ends after 1 s or 1 MiB. */
  public static RecorderSettings of(List<Endpoint> endpoints) {
    return new RecorderSettings(
        List.copyOf(endpoints),
        Map.of(),
        Duration.ofSeconds(1),
        1 << 20,
        (endpoints.size() + 4L) << 20,
        1 << 16,
        Duration.ofMillis(100),
        Duration.ofSeconds(10),
        Framing.CHUNK_PER_SPAN,
        false,
        Routing.ANY_WRITABLE);
  }
}
