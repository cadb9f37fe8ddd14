package tollbooth.web.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/**
 * A service that ran as a process of its own, as it does in a container, and ended by itself.
 *
 * @param exitCode what it ended with
 * @param output what it wrote
 * @param errors what it wrote as errors
 */
public record EndedProcess(int exitCode, String output, String errors) {

  /** Runs a service with this test's class path until it ends. */
  public static EndedProcess run(Class<?> application, Map<String, String> environment)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            application.getName());
    builder.environment().putAll(environment);
    Process process = builder.start();
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new EndedProcess(process.waitFor(), output, errors);
  }
}
