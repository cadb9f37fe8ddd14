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
 * What a span of another shape costs the thread that makes it, as in {@link CallerBenchmark}. The
 * queue is emptied after fewer spans: long ones need more buffers.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class ShapeBenchmark {

  private static final int SPANS = 250;
  private static final int QUEUE = 4_096;

  /** What makes the spans. */
  @Param({"streaming-discard", "sdk-discard"})
  public String tracer;

  /** What they carry. */
  @Param({"events", "links", "long-strings", "current", "injected"})
  public String shape;

  private ApiMaker maker;
  private SpanShape shaped;
  private long made;

  /** Starts the tracer. */
  @Setup(Level.Trial)
  public void start() {
    shaped = SpanShape.of(shape);
    maker = (ApiMaker) SpanMakers.start(tracer, null, QUEUE);
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

  /** Spans in a row. */
  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void spans() {
    for (int i = 0; i < SPANS; i++) {
      shaped.make(maker.tracer());
    }
  }
}
