package tollbooth.benchmarks.spans;

import java.util.concurrent.TimeUnit;
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
 * What a span of another shape costs until its last byte is acknowledged, as in {@link
 * LastByteBenchmark}. 2,000 spans a second: the longest has 10,000 bytes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 10, time = 1)
@Measurement(iterations = 5, time = 2)
@Fork(5)
public class ShapeLastByteBenchmark {

  private static final int SPANS_PER_SECOND = 2_000;

  /** What makes and sends the spans. */
  @Param({"streaming-chunk-per-write", "sdk-okhttp-512"})
  public String tracer;

  /** What they carry. */
  @Param({"events", "links", "long-strings"})
  public String shape;

  private PacedLoop loop;

  /** Starts the backend and the tracer. */
  @Setup(Level.Trial)
  public void start() {
    SpanShape shaped = SpanShape.of(shape);
    loop =
        new PacedLoop(
            tracer, SPANS_PER_SECOND, maker -> () -> shaped.make(((ApiMaker) maker).tracer()));
  }

  /** Ends both. */
  @TearDown(Level.Trial)
  public void stop() {
    loop.close();
  }

  /** A second of bursts, until the last span is acknowledged. */
  @Benchmark
  public void paced(PacedCost cost) {
    loop.second(cost);
  }
}
