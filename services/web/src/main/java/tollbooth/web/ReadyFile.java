package tollbooth.web;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports to the lab that this node listens, with a file that is renamed into place
 * (docs/reference/formats.md). A health check would cost CPU in the measured window.
 */
final class ReadyFile implements ApplicationListener<ApplicationReadyEvent> {

  private final NodeSettings settings;
  private final JsonMapper json;

  ReadyFile(NodeSettings settings, JsonMapper json) {
    this.settings = settings;
    this.json = json;
  }

  @Override
  public void onApplicationEvent(ApplicationReadyEvent ready) {
    settings
        .readyDirectory()
        .ifPresent(directory -> write(directory, Instant.ofEpochMilli(ready.getTimestamp())));
  }

  private void write(Path directory, Instant springReady) {
    AtomicFile.write(
        directory.resolve(settings.name() + ".json"),
        json.writeValueAsString(content(springReady)));
  }

  private Map<String, Object> content(Instant springReady) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("format", "tollbooth.ready");
    content.put("version", 1);
    content.put("node", settings.name());
    content.put("t_ns", unixNs(Instant.now()));
    ProcessHandle.current()
        .info()
        .startInstant()
        .ifPresent(start -> content.put("process_start_ns", unixNs(start)));
    content.put("spring_ready_ns", unixNs(springReady));
    content.put("variant", settings.telemetry());
    content.put(
        "versions",
        Map.of(
            "java",
            System.getProperty("java.version"),
            "spring-boot",
            SpringBootVersion.getVersion()));
    return content;
  }

  private static long unixNs(Instant instant) {
    return Duration.between(Instant.EPOCH, instant).toNanos();
  }
}
