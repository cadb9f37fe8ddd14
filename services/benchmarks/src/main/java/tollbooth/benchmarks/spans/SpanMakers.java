package tollbooth.benchmarks.spans;

/** Ways to make and deliver spans, by the names that are parameters of benchmarks. */
final class SpanMakers {

  private SpanMakers() {}

  /** Starts the backend that the named one sends to. */
  static Backend backend(String name) {
    return name.startsWith("sdk-grpc-") ? new GrpcBackend() : new LoopbackBackend();
  }

  /** A rate far below what the named one can do: a request for each span takes its time. */
  static int spansPerSecond(String name) {
    return name.contains("-simple") ? 1_000 : 20_000;
  }

  /**
   * Starts one.
   *
   * @param name {@code late}, {@code late-http}, {@code mutex}, {@code streaming-discard}, {@code
   *     streaming-} and a framing, {@code sdk-discard}, or {@code sdk-} and what {@link
   *     SdkOptions#parse} reads
   * @param url of the backend, for those that send
   * @param queueSize in spans
   */
  static SpanMaker start(String name, String url, int queueSize) {
    String[] parts = name.split("-", 2);
    return switch (parts[0]) {
      case "late" ->
          parts.length == 1 ? new LateMaker(queueSize) : LateMaker.sending(url, queueSize);
      case "mutex" -> new MutexMaker(queueSize);
      case "streaming" -> streaming(parts[1], url, queueSize);
      case "sdk" -> sdk(parts[1], url, queueSize);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static SpanMaker streaming(String framing, String url, int queueSize) {
    return framing.equals("discard")
        ? StreamingMaker.discarding(queueSize)
        : StreamingMaker.sending(url, framing, queueSize);
  }

  private static SpanMaker sdk(String options, String url, int queueSize) {
    return options.equals("discard")
        ? SdkMaker.discarding(queueSize)
        : SdkMaker.sending(url, SdkOptions.parse(options), queueSize);
  }
}
