package tollbooth.benchmarks.spans;

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
 * How many spans a second a tracer takes from threads that never pause, and how many it drops. What
 * takes spans from the queue discards them. Here drops are the result; the other benchmarks fail if
 * a span is dropped.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class SustainedBenchmark {

  private static final int SPANS = 200_000;
  private static final int QUEUE = 4_096;

  /** What makes and takes the spans. */
  @Param({"streaming-discard", "mutex", "sdk-discard"})
  public String tracer;

  /** Of each span. */
  @Param("10")
  public int attributes;

  /** Among which the spans are divided. */
  @Param({"1", "2", "4", "8"})
  public int threads;

  private SpanMaker maker;
  private ExecutorService workers;
  private List<Callable<Integer>> work;

  /** What an iteration did in all; JMH resets and adds up the public fields. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cost {

    /** Taken. */
    public long spans;

    /** Not taken. */
    public long dropped;

    /** From the first span until the last one was taken or dropped, in nanoseconds. */
    public long takenNs;
  }

  /** Starts the tracer and the threads. */
  @Setup(Level.Trial)
  public void start() {
    maker = SpanMakers.start(tracer, null, QUEUE);
    workers = Executors.newFixedThreadPool(threads);
    work = Collections.nCopies(threads, this::share);
  }

  /** Makes one thread's share; returns how many spans that are. */
  private int share() {
    int spans = SPANS / threads;
    for (int i = 0; i < spans; i++) {
      maker.make(attributes);
    }
    return spans;
  }

  /** Ends both. */
  @TearDown(Level.Trial)
  public void stop() {
    workers.shutdown();
    maker.close();
  }

  /** Spans without a pause. */
  @Benchmark
  public void unpaced(Cost cost) throws InterruptedException, ExecutionException {
    long startNs = System.nanoTime();
    long before = maker.delivered();
    long made = 0;
    for (Future<Integer> share : workers.invokeAll(work)) {
      made += share.get();
    }
    maker.settle();
    // The SDK's flush may answer for the one before.
    maker.settle();
    long delivered = maker.delivered() - before;
    cost.spans += delivered;
    cost.dropped += made - delivered;
    cost.takenNs += System.nanoTime() - startNs;
  }
}
