package tollbooth.benchmarks.spans;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a span costs the thread that makes it, from its start to its end. After each thousand the
 * queue is emptied outside the measured time, so nothing is dropped.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class CallerBenchmark {

  private static final int SPANS = 1_000;
  private static final int QUEUE = 4_096;

  /** What makes the spans. */
  @Param({"streaming-discard", "sdk-discard", "late"})
  public String tracer;

  /** Of each span. */
  @Param({"0", "1", "10", "50"})
  public int attributes;

  private SpanMaker maker;
  private long made;

  /** Starts the tracer. */
  @Setup(Level.Trial)
  public void start() {
    maker = SpanMakers.startHolding(tracer, QUEUE);
  }

  /** Empties the queue. */
  @TearDown(Level.Invocation)
  public void settle() {
    made += SPANS;
    Delivery.settle(maker, made);
  }

  /** Ends the tracer. */
  @TearDown(Level.Trial)
  public void stop() {
    maker.close();
  }

  /** A thousand spans in a row. */
  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void spans() {
    for (int i = 0; i < SPANS; i++) {
      maker.make(attributes);
    }
  }
}
