package tollbooth.benchmarks.spans;

import io.opentelemetry.api.trace.Tracer;

/** A way to make spans with OpenTelemetry's API. */
interface ApiMaker extends SpanMaker {

  /** What makes the spans. */
  Tracer tracer();
}
