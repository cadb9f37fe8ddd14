package tollbooth.benchmarks;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import tollbooth.web.CpuClock;

/**
 * Adds to each iteration when it began and ended, in Unix time, its operations, and the CPU time
 * that the process used in it.
 */
public final class IterationProfiler implements InternalProfiler {

  private static final long SECOND_NS = 1_000_000_000;

  private long startNs;
  private long startCpuNs;

  @Override
  public String getDescription() {
    return "Times, operations and CPU time of each iteration";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    startNs = nowNs();
    startCpuNs = CpuClock.PROCESS.ns();
  }

  @Override
  public Collection<? extends Result> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long cpuNs = CpuClock.PROCESS.ns() - startCpuNs;
    return List.of(
        new ScalarResult("startNs", startNs, "ns", AggregationPolicy.MIN),
        new ScalarResult("endNs", nowNs(), "ns", AggregationPolicy.MAX),
        new ScalarResult("processCpuNs", cpuNs, "ns", AggregationPolicy.SUM),
        new ScalarResult(
            "operations", result.getMetadata().getAllOps(), "#", AggregationPolicy.SUM));
  }

  private static long nowNs() {
    Instant now = Instant.now();
    return now.getEpochSecond() * SECOND_NS + now.getNano();
  }
}
