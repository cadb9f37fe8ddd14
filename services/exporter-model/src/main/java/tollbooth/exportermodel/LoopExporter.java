package tollbooth.exportermodel;

import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Exports on the event loop. Only that thread has the buffer, so there is no lock. */
final class LoopExporter implements SpanExporter {

  private final int minFlushSpans;
  private final Consumer<List<Span>> export;
  private List<Span> waiting = new ArrayList<>();

  LoopExporter(int minFlushSpans, Consumer<List<Span>> export) {
    this.minFlushSpans = minFlushSpans;
    this.export = export;
  }

  @Override
  public void add(Span span) {
    waiting.add(span);
    if (waiting.size() >= minFlushSpans) {
      flush();
    }
  }

  @Override
  public void flush() {
    if (!waiting.isEmpty()) {
      List<Span> taken = waiting;
      waiting = new ArrayList<>();
      export.accept(taken);
    }
  }
}
