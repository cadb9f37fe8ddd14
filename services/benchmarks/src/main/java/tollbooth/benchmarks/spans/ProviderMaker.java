package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;
import java.time.Duration;
import tollbooth.telemetry.streaming.StreamingTracerProvider;

/** The streaming tracer with another queue, or without what empties it. */
final class ProviderMaker implements SpanMaker {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final StreamingTracerProvider provider;
  private final Tracer tracer;

  ProviderMaker(StreamingTracerProvider provider) {
    this.provider = provider;
    tracer = provider.get("benchmark");
  }

  @Override
  public void make(int attributes) {
    ApiSpans.make(tracer, attributes);
  }

  @Override
  public void settle() {
    provider.forceFlush(LONG);
  }

  @Override
  public long delivered() {
    return provider.counts().acknowledged();
  }

  @Override
  public void close() {
    provider.close();
  }
}
