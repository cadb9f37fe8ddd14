package tollbooth.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;

/**
 * Runs benchmarks for the lab, with JMH's own options. The record that it leaves consists of JMH's
 * results and, if there are none, of the reason (docs/reference/formats.md).
 */
public final class RecordedRun {

  /** Where the lab reads the record. */
  private static final Path RECORD = Path.of("/out/jmh.json");

  private RecordedRun() {}

  /**
   * Writes the record, completely or not at all. Then it stays until it is ended: the lab reads the
   * container's counters until after the last iteration.
   */
  public static void main(String[] options)
      throws CommandLineOptionException, IOException, InterruptedException {
    Path part = RECORD.resolveSibling(".jmh.part");
    Files.writeString(part, record(new CommandLineOptions(options)));
    Files.move(part, RECORD, StandardCopyOption.ATOMIC_MOVE);
    new CountDownLatch(1).await();
  }

  /** The record of a run with these options. */
  static String record(Options options) {
    try {
      return record("null", new Runner(options).run());
    } catch (RunnerException failed) {
      return record(quoted(reason(failed)), List.of());
    }
  }

  private static String record(String failed, Collection<RunResult> results) {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    ResultFormatFactory.getInstance(ResultFormatType.JSON, new PrintStream(json, true, UTF_8))
        .writeOut(results);
    return "{\"format\":\"tollbooth.jmh\",\"version\":1,\"failed\":%s,\"results\":%s}\n"
        .formatted(failed, json.toString(UTF_8).strip());
  }

  /** What a benchmark threw. JMH wraps it, and hands it on as a suppressed exception. */
  private static String reason(Throwable failed) {
    Throwable[] suppressed = failed.getSuppressed();
    Throwable wrapped = suppressed.length > 0 ? suppressed[0] : failed.getCause();
    return wrapped == null ? failed.toString() : reason(wrapped);
  }

  /** A text in JSON, without the characters that would have to be escaped. */
  private static String quoted(String text) {
    return '"' + text.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + '"';
  }
}
