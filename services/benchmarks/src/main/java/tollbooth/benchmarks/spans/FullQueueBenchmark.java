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
 * What a span costs the thread that makes it when the queue is full: nothing takes spans from it,
 * so each one is dropped at its end.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class FullQueueBenchmark {

  private static final int SPANS = 1_000;
  private static final int QUEUE = 4_096;

  /** What makes the spans. */
  @Param({"streaming-stuck", "sdk-stuck"})
  public String tracer;

  /** Of each span. */
  @Param("10")
  public int attributes;

  private SpanMaker maker;

  /** Starts the tracer and fills its queue. */
  @Setup(Level.Trial)
  public void start() {
    maker = SpanMakers.start(tracer, null, QUEUE);
    for (int i = 0; i < 2 * QUEUE; i++) {
      maker.make(attributes);
    }
  }

  /** Ends the tracer. */
  @TearDown(Level.Trial)
  public void stop() {
    if (maker.delivered() > 0) {
      throw new IllegalStateException(maker.delivered() + " spans were delivered");
    }
    maker.close();
  }

  /** A thousand spans in a row. */
  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void dropped() {
    for (int i = 0; i < SPANS; i++) {
      maker.make(attributes);
    }
  }
}
