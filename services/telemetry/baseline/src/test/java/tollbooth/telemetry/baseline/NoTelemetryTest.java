package tollbooth.telemetry.baseline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The class path of the services alone; that of this test holds all of it, and test libraries. */
class NoTelemetryTest {

  private static final List<Path> JARS =
      Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
          .filter(entry -> entry.endsWith(".jar"))
          .map(Path::of)
          .toList();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "io/opentelemetry/",
        "io/opentracing/",
        "brave/",
        "zipkin2/",
        "io/prometheus/",
        "io/micrometer/core/",
        "io/micrometer/tracing/",
        "org/springframework/boot/actuate/"
      })
  void holdsNoClassOf(String packagePath) {
    assertThat(JARS.stream().flatMap(NoTelemetryTest::entries))
        .noneMatch(entry -> entry.startsWith(packagePath));
  }

  /** Spring's web module refers to these two by itself; without a registry they do nothing. */
  @Test
  void holdsNoMoreOfMicrometerThanSpringItselfNeeds() {
    assertThat(JARS.stream().map(jar -> jar.getFileName().toString()))
        .filteredOn(name -> name.startsWith("micrometer-"))
        .map(name -> name.replaceAll("-[0-9].*", ""))
        .containsExactlyInAnyOrder("micrometer-observation", "micrometer-commons");
  }

  private static Stream<String> entries(Path jar) {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.stream().map(entry -> entry.getName()).toList().stream();
    } catch (IOException unreadable) {
      throw new AssertionError("cannot read " + jar, unreadable);
    }
  }
}
