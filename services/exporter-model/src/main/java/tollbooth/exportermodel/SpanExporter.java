package tollbooth.exportermodel;

import io.opentelemetry.proto.trace.v1.Span;

/** Takes finished spans, and exports them in batches. All methods are called on the event loop. */
interface SpanExporter extends AutoCloseable {

  /** Takes a span; once enough are waiting, they are exported. */
  void add(Span span);

  /** Exports what is waiting, however little. */
  void flush();

  @Override
  default void close() {}
}
