package tollbooth.benchmarks;

import java.util.Locale;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.util.Statistics;

/** Runs the benchmarks and prints what svc-b adds to the requested latency. */
public final class Benchmarks {

  private Benchmarks() {}

  /** Takes no arguments; about a minute and a half. */
  public static void main(String[] arguments) throws RunnerException {
    new Runner(new OptionsBuilder().include(MockBenchmark.class.getName()).build())
        .run()
        .forEach(result -> System.out.println(added(result)));
  }

  private static String added(RunResult result) {
    int latencyMs = Integer.parseInt(result.getParams().getParam("latencyMs"));
    Statistics tookMs = result.getPrimaryResult().getStatistics();
    return String.format(
        Locale.ROOT,
        "svc-b adds %.3f ms at p50, %.3f ms at p99 to a latency of %d ms (%d requests)",
        tookMs.getPercentile(50) - latencyMs,
        tookMs.getPercentile(99) - latencyMs,
        latencyMs,
        tookMs.getN());
  }
}
