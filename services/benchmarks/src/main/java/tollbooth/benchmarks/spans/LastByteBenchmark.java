package tollbooth.benchmarks.spans;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
 * What a span costs until its last byte is acknowledged: CPU time of the process, without that of
 * the backend in it, divided by the acknowledged spans. 20,000 spans a second, in bursts, far below
 * what any tracer can do; 1,000 where each span is a request. The cost is the secondary result
 * {@code cpuNs}, divided by {@code spans}; the primary one is the time of the paced loop and says
 * nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 10, time = 1)
@Measurement(iterations = 5, time = 2)
@Fork(5)
public class LastByteBenchmark {

  private static final int BURSTS = 20;
  private static final int WARM_UP_BURSTS = 500;
  private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int QUEUE = 4_096;
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** What makes and sends the spans. The SDK's: its sender, its largest batch, and options. */
  @Param({
    "streaming-discard",
    "streaming-chunk-per-span",
    "streaming-chunk-per-write",
    "streaming-group-per-write",
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

  private Backend backend;
  private SpanMaker maker;
  private int burstSize;
  private long made;

  /** What an iteration cost in all; JMH resets and adds up the public fields. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cost {

    /** CPU time, in nanoseconds. */
    public long cpuNs;

    /** Of the requests' bodies. */
    public long bodyBytes;

    /** Acknowledged. */
    public long spans;

    /** CPU time of the backend, in nanoseconds. */
    public long backendCpuNs;

    /** What the loop takes at its rate, in nanoseconds. */
    public long plannedNs;

    /** What it took, until the last span was acknowledged. */
    public long takenNs;
  }

  /** Starts the backend and the tracer. */
  @Setup(Level.Trial)
  public void start() {
    backend = SpanMakers.backend(tracer);
    burstSize = SpanMakers.spansPerSecond(tracer) / BURSTS;
    maker = SpanMakers.start(tracer, backend.url(), QUEUE);
    // A cold tracer would drop spans at the paced rate.
    for (int i = 0; i < WARM_UP_BURSTS; i++) {
      burst();
      Delivery.settle(maker, made);
    }
  }

  private void burst() {
    for (int i = 0; i < burstSize; i++) {
      maker.make(attributes);
    }
    made += burstSize;
  }

  /** Ends both. */
  @TearDown(Level.Trial)
  public void stop() {
    maker.close();
    backend.close();
  }

  /** A second of bursts, until the last span is acknowledged. */
  @Benchmark
  public void paced(Cost cost) {
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
    return PROCESS.getProcessCpuTime() - backend.cpuNs();
  }
}
