package tollbooth.benchmarks.spans;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;

/** Makes no spans: what a benchmark costs by itself. */
final class NoMaker implements SpanMaker {

  private final Tracer tracer = OpenTelemetry.noop().getTracer("benchmark");
  private long made;

  @Override
  public void make(int attributes) {
    ApiSpans.make(tracer, attributes);
    made++;
  }

  @Override
  public void settle() {}

  @Override
  public long delivered() {
    return made;
  }

  @Override
  public void close() {}
}
