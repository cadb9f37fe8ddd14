package tollbooth.benchmarks.spans;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long 4,000 spans take that are divided evenly among threads. The queue has room for all of
 * them and is emptied outside the measured time. Handing the work to the threads is a part of it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class BurstBenchmark {

  private static final int SPANS = 4_000;
  private static final int QUEUE = 8_192;

  /** What makes and takes the spans. A lock is all that {@code mutex} has besides the first. */
  @Param({"streaming-discard", "mutex", "sdk-discard", "late"})
  public String tracer;

  /** Among which the spans are divided. */
  @Param({"1", "2", "4", "8"})
  public int threads;

  private SpanMaker maker;
  private ExecutorService workers;
  private List<Callable<Long>> work;
  private long made;

  /** What an iteration cost in all; JMH resets and adds up the public fields. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cost {

    /** CPU time of the threads that make spans, in nanoseconds. */
    public long cpuNs;

    /** Of 4,000 spans each. */
    public long bursts;

    /** In all bursts. */
    public long spans;
  }

  /** Starts the tracer and the threads. */
  @Setup(Level.Trial)
  public void start() {
    maker = SpanMakers.startHolding(tracer, QUEUE);
    workers = Executors.newFixedThreadPool(threads);
    work = Collections.nCopies(threads, this::share);
  }

  /** Makes one thread's share; returns its CPU time in nanoseconds. */
  private long share() {
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    long cpuNs = clock.getCurrentThreadCpuTime();
    for (int i = 0; i < SPANS / threads; i++) {
      maker.make(0);
    }
    return clock.getCurrentThreadCpuTime() - cpuNs;
  }

  /** Empties the queue. */
  @TearDown(Level.Invocation)
  public void settle() {
    made += SPANS;
    Delivery.settle(maker, made);
  }

  /** Ends both. */
  @TearDown(Level.Trial)
  public void stop() {
    workers.shutdown();
    maker.close();
  }

  /** All spans of a burst. */
  @Benchmark
  public void burst(Cost cost) throws InterruptedException, ExecutionException {
    for (Future<Long> share : workers.invokeAll(work)) {
      cost.cpuNs += share.get();
    }
    cost.bursts++;
    cost.spans += SPANS;
  }
}
