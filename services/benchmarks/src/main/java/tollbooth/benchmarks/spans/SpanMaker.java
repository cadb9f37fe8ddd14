package tollbooth.benchmarks.spans;

/** A way to make spans, with what delivers them. */
interface SpanMaker extends AutoCloseable {

  /** Makes a root span with so many attributes, from its start to its end. */
  void make(int attributes);

  /** Waits until every span so far is delivered or dropped. */
  void settle();

  /** The spans that were delivered so far. */
  long delivered();

  @Override
  void close();
}
