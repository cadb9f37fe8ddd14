package tollbooth.exportermodel;

import io.netty.channel.EventLoopGroup;

/** The three designs of an exporter. */
enum Design {
  /** Spans are sent by the loop itself, which goes on meanwhile. */
  ASYNC {
    @Override
    SpanExporter exporter(Settings settings, EventLoopGroup loop, Counters counters) {
      LoopClient client = new LoopClient(loop, settings.receiver());
      return new LoopExporter(
          settings.minFlushSpans(),
          counters.exporting(
              spans -> client.send(Otlp.request(settings.receiver(), spans), answer -> {})));
    }
  },
  /** Spans are sent by a blocking client, for whose answer the loop waits. */
  WAITING {
    @Override
    SpanExporter exporter(Settings settings, EventLoopGroup loop, Counters counters) {
      BlockingClient client = new BlockingClient(settings.receiver());
      return new LoopExporter(
          settings.minFlushSpans(), counters.exporting(spans -> client.post(Otlp.body(spans))));
    }
  },
  /** The same client, on a thread of its own that takes the spans from behind a mutex. */
  THREAD {
    @Override
    SpanExporter exporter(Settings settings, EventLoopGroup loop, Counters counters) {
      BlockingClient client = new BlockingClient(settings.receiver());
      return new ThreadExporter(
          settings.minFlushSpans(),
          counters.exporting(spans -> client.post(Otlp.body(spans))),
          counters);
    }
  };

  /** Returns a new exporter of this design. */
  abstract SpanExporter exporter(Settings settings, EventLoopGroup loop, Counters counters);
}
