package tollbooth.benchmarks.spans;

/** Ways to make and deliver spans, by the names that are parameters of benchmarks. */
final class SpanMakers {

  private static final String OKHTTP =
      "io.opentelemetry.exporter.sender.okhttp.internal.OkHttpHttpSenderProvider";
  private static final String JDK =
      "io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSenderProvider";

  private SpanMakers() {}

  /**
   * Starts one.
   *
   * @param name {@code late}, {@code mutex}, {@code streaming-discard}, {@code streaming-} and a
   *     framing, {@code sdk-discard}, or {@code sdk-}, a sender and its largest batch
   * @param url of the backend, for those that send
   * @param queueSize in spans
   */
  static SpanMaker start(String name, String url, int queueSize) {
    String[] parts = name.split("-", 2);
    return switch (parts[0]) {
      case "late" -> new LateMaker(queueSize);
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

  private static SpanMaker sdk(String sender, String url, int queueSize) {
    if (sender.equals("discard")) {
      return SdkMaker.discarding(512, queueSize);
    }
    String[] parts = sender.split("-");
    String provider = parts[0].equals("jdk") ? JDK : OKHTTP;
    return SdkMaker.sending(url, provider, Integer.parseInt(parts[1]), queueSize);
  }
}
