package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;
import java.time.Duration;
import tollbooth.telemetry.streaming.MutexTracer;
import tollbooth.telemetry.streaming.StreamingTracerProvider;

/** The streaming tracer with a lock around its queue. */
final class MutexMaker implements SpanMaker {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final StreamingTracerProvider provider;
  private final Tracer tracer;

  MutexMaker(int queueSize) {
    provider = MutexTracer.start(queueSize);
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
