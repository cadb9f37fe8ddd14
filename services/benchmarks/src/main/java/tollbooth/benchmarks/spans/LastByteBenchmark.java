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
 * What a span costs until its last byte is acknowledged: CPU time of the process, without that of
 * the backend in it, divided by the acknowledged spans. 20,000 spans a second, in bursts; 1,000
 * where each span is a request. A tracer that cannot hold the rate drops spans, and the benchmark
 * fails. The cost is the secondary result {@code cpuNs}, divided by {@code spans}; the primary one
 * is the time of the paced loop and says nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 10, time = 1)
@Measurement(iterations = 5, time = 2)
@Fork(5)
public class LastByteBenchmark {

  /** What makes and sends the spans. The SDK's: its sender, its largest batch, and options. */
  @Param({
    "none",
    "streaming-discard",
    "streaming-chunk-per-span",
    "streaming-chunk-per-write",
    "streaming-group-per-write",
    "streaming-chunk-per-write-gzip",
    "streaming-group-per-write-gzip",
    "sdk-discard",
    "sdk-okhttp-512",
    "sdk-okhttp-2048",
    "sdk-jdk-512",
    "sdk-jdk-2048",
    "sdk-grpc-512",
    "sdk-grpc-2048",
    "sdk-okhttp-512-immutable",
    "sdk-okhttp-512-gzip",
    "sdk-grpc-512-gzip",
    "sdk-okhttp-simple",
    "late-http"
  })
  public String tracer;

  /** Of each span. */
  @Param("10")
  public int attributes;

  private PacedLoop loop;

  /** Starts the backend and the tracer. */
  @Setup(Level.Trial)
  public void start() {
    loop =
        new PacedLoop(
            tracer, SpanMakers.spansPerSecond(tracer), maker -> () -> maker.make(attributes));
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
