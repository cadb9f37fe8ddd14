package tollbooth.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/** What the lab reads of a run of JMH; lab/record/jmh.py has the other half. */
@Timeout(60)
class RecordedRunTest {

  @Test
  void theRecordHasJmhsResultsAndThoseOfTheProfiler() throws CommandLineOptionException {
    assertThat(recorded("late"))
        .startsWith("{\"format\":\"tollbooth.jmh\",\"version\":1,\"failed\":null,\"results\":[")
        .contains("\"tollbooth.benchmarks.spans.CallerBenchmark.spans\"", "\"tracer\" : \"late\"")
        .contains("\"startNs\"", "\"endNs\"", "\"processCpuNs\"", "\"operations\"")
        .endsWith("]}\n");
  }

  @Test
  void aBenchmarkThatFailsLeavesItsReason() throws CommandLineOptionException {
    assertThat(recorded("unknown"))
        .startsWith("{\"format\":\"tollbooth.jmh\",\"version\":1,\"failed\":\"")
        .contains("IllegalArgumentException: unknown\"")
        .doesNotContain("primaryMetric");
  }

  /** In this JVM, for a moment. */
  private static String recorded(String tracer) throws CommandLineOptionException {
    return RecordedRun.record(
        new CommandLineOptions(
            "CallerBenchmark",
            "-f",
            "0",
            "-foe",
            "true",
            "-wi",
            "0",
            "-i",
            "1",
            "-r",
            "10ms",
            "-p",
            "tracer=" + tracer,
            "-p",
            "attributes=1",
            "-prof",
            IterationProfiler.class.getName()));
  }
}
