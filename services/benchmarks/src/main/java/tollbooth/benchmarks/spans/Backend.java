package tollbooth.benchmarks.spans;

/** What receives spans in the same JVM, and knows what of the process's CPU time is its own. */
interface Backend extends AutoCloseable {

  String url();

  /** Bytes of all requests with spans so far, as sent: without the frames around them. */
  long bodyBytes();

  /** CPU time so far, in nanoseconds. */
  long cpuNs();

  @Override
  void close();
}
