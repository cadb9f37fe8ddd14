package tollbooth.benchmarks.spans;

import tollbooth.telemetry.streaming.MutexTracer;
import tollbooth.telemetry.streaming.StuckTracer;

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
   * @param name {@code none}, {@code late}, {@code late-http}, {@code mutex}, {@code
   *     streaming-discard}, {@code streaming-stuck}, {@code streaming-} and what {@link
   *     StreamingMaker#sending} reads, {@code sdk-discard}, {@code sdk-stuck}, or {@code sdk-} and
   *     what {@link SdkOptions#parse} reads
   * @param url of the backend, for those that send
   * @param queueSize in spans
   */
  static SpanMaker start(String name, String url, int queueSize) {
    String[] parts = name.split("-", 2);
    return switch (parts[0]) {
      case "none" -> new NoMaker();
      case "late" ->
          parts.length == 1 ? new LateMaker(queueSize) : LateMaker.sending(url, queueSize);
      case "mutex" -> new ProviderMaker(MutexTracer.start(queueSize));
      case "streaming" -> streaming(parts[1], url, queueSize);
      case "sdk" -> sdk(parts[1], url, queueSize);
      default -> throw new IllegalArgumentException(name);
    };
  }

  /**
   * Starts one that sends nothing. Its spans stay in the queue until it is settled, as long as they
   * fill less than half of it, and for less than 100 ms. For this the SDK's batch is as large as
   * its queue.
   */
  static SpanMaker startHolding(String name, int queueSize) {
    return name.equals("sdk-discard")
        ? SdkMaker.discarding(queueSize, queueSize)
        : start(name, null, queueSize);
  }

  private static SpanMaker streaming(String framing, String url, int queueSize) {
    return switch (framing) {
      case "discard" -> StreamingMaker.discarding(queueSize);
      case "stuck" -> new ProviderMaker(StuckTracer.start(queueSize));
      default -> StreamingMaker.sending(url, framing, queueSize);
    };
  }

  private static SpanMaker sdk(String options, String url, int queueSize) {
    return switch (options) {
      case "discard" -> SdkMaker.discarding(queueSize);
      case "stuck" -> SdkMaker.stuck(queueSize);
      default -> SdkMaker.sending(url, SdkOptions.parse(options), queueSize);
    };
  }
}
