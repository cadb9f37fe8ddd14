package tollbooth.benchmarks.spans;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import tollbooth.web.CpuClock;

/**
 * Makes spans at a rate, in bursts, and sends them to a backend in the same process. What they cost
 * is CPU time of the process, without that of the backend, until the last one is acknowledged.
 */
final class PacedLoop implements AutoCloseable {

  private static final int BURSTS = 20;
  private static final int WARM_UP_BURSTS = 500;
  private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int QUEUE = 4_096;

  private final Backend backend;
  private final SpanMaker maker;
  private final Runnable span;
  private final int burstSize;
  private long made;

  /**
   * Starts the backend and the tracer, and makes spans until the tracer holds the rate: a cold one
   * would drop some.
   *
   * @param tracer a name of {@link SpanMakers}
   * @param span how the tracer makes one
   */
  PacedLoop(String tracer, int spansPerSecond, Function<SpanMaker, Runnable> span) {
    backend = SpanMakers.backend(tracer);
    maker = SpanMakers.start(tracer, backend.url(), QUEUE);
    this.span = span.apply(maker);
    burstSize = spansPerSecond / BURSTS;
    for (int i = 0; i < WARM_UP_BURSTS; i++) {
      burst();
      Delivery.settle(maker, made);
    }
  }

  private void burst() {
    for (int i = 0; i < burstSize; i++) {
      span.run();
    }
    made += burstSize;
  }

  /** A second of bursts, until the last span is acknowledged. */
  void second(PacedCost cost) {
    long cpuNs = cpuNs();
    long backendCpuNs = backend.cpuNs();
    long bytes = backend.bodyBytes();
    long startNs = System.nanoTime();
    long due = startNs;
    for (int burst = 0; burst < BURSTS; burst++) {
      burst();
      due += PERIOD_NS;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
    Delivery.settle(maker, made);
    cost.takenNs += System.nanoTime() - startNs;
    cost.plannedNs += BURSTS * PERIOD_NS;
    cost.backendCpuNs += backend.cpuNs() - backendCpuNs;
    cost.cpuNs += cpuNs() - cpuNs;
    cost.bodyBytes += backend.bodyBytes() - bytes;
    cost.spans += (long) burstSize * BURSTS;
  }

  private long cpuNs() {
    return CpuClock.PROCESS.ns() - backend.cpuNs();
  }

  @Override
  public void close() {
    maker.close();
    backend.close();
  }
}
