package tollbooth.telemetry.streaming;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;

/** The tracer of one scope. */
final class StreamingTracer implements Tracer {

  private static final String NO_NAME = "<unspecified span name>";
  private static final Tracer CLOSED = TracerProvider.noop().get("closed");

  final Pipeline pipeline;
  final byte[] scope;
  final SpanWriter writer;

  StreamingTracer(Pipeline pipeline, Scope scope) {
    this.pipeline = pipeline;
    this.scope = pipeline.format().scope(scope);
    writer = new SpanWriter(pipeline.format(), pipeline.limits());
  }

  @Override
  public SpanBuilder spanBuilder(String name) {
    if (pipeline.queue().isClosed()) {
      return CLOSED.spanBuilder(name);
    }
    return new StreamingSpanBuilder(this, name == null || name.isBlank() ? NO_NAME : name);
  }
}
