package tollbooth.benchmarks;

import java.util.Locale;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.util.Statistics;

/** Runs the benchmarks, and says of svc-b what it adds to the latency that it is asked for. */
public final class Benchmarks {

  private Benchmarks() {}

  /** Takes no arguments; about a minute and a half. */
  public static void main(String[] arguments) throws RunnerException {
    new Runner(new OptionsBuilder().include(MockBenchmark.class.getName()).build())
        .run()
        .forEach(result -> System.out.println(added(result)));
  }

  private static String added(RunResult result) {
    int askedMs = Integer.parseInt(result.getParams().getParam("latencyMs"));
    Statistics tookMs = result.getPrimaryResult().getStatistics();
    return String.format(
        Locale.ROOT,
        "svc-b adds %.3f ms at p50, %.3f ms at p99 to %d ms asked for (%d requests)",
        tookMs.getPercentile(50) - askedMs,
        tookMs.getPercentile(99) - askedMs,
        askedMs,
        tookMs.getN());
  }
}
