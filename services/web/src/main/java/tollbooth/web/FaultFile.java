package tollbooth.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import tollbooth.workload.Overrides;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Polls a file for faults that the lab injects into this node, and confirms each with another file
 * (docs/reference/formats.md). Exists only if the level has faults.
 */
final class FaultFile implements AutoCloseable {

  private static final String FORMAT = "tollbooth.fault";
  private static final int VERSION = 1;
  private static final int EVERY_MS = 50;

  private final Path wish;
  private final Path answer;
  private final NodeFault fault;
  private final JsonMapper json;
  private final ScheduledExecutorService watcher =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("faults").daemon().factory());

  private String taken = "";

  /** Starts to poll the directory for the node's file. */
  FaultFile(String node, Path directory, NodeFault fault, JsonMapper json) {
    this.wish = directory.resolve(node + ".fault.json");
    this.answer = directory.resolve(node + ".fault-taken.json");
    this.fault = fault;
    this.json = json;
    watcher.scheduleWithFixedDelay(this::look, 0, EVERY_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    watcher.shutdownNow();
  }

  private void look() {
    try {
      String text = Files.readString(wish);
      if (!text.equals(taken)) {
        taken = text;
        take(json.readTree(text));
      }
    } catch (NoSuchFileException notYet) {
      // No fault so far.
    } catch (IOException
        | UncheckedIOException
        | JacksonException
        | IllegalArgumentException wrong) {
      // The lab gets no answer and reports that.
      System.err.println("tollbooth: " + wish + ": " + wrong.getMessage());
    }
  }

  private void take(JsonNode wanted) {
    if (!FORMAT.equals(wanted.path("format").asString(""))
        || wanted.path("version").asInt(0) != VERSION) {
      throw new IllegalArgumentException("not " + FORMAT + " version " + VERSION);
    }
    fault.become(
        new Overrides(
            Optional.ofNullable(wanted.get("latency_ms")).map(JsonNode::asInt),
            Optional.ofNullable(wanted.get("error_probability")).map(JsonNode::asDouble)));
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("format", "tollbooth.fault-taken");
    content.put("version", VERSION);
    content.put("number", wanted.path("number").asInt(0));
    content.putAll(fault.counted());
    AtomicFile.write(answer, json.writeValueAsString(content));
  }
}
