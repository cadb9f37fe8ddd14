package tollbooth.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tollbooth.workload.Overrides;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class FaultFileTest {

  @TempDir private Path folder;

  private final NodeFault fault = new NodeFault();
  private FaultFile watched;

  @BeforeEach
  void watch() {
    watched = new FaultFile("s1", folder, fault, JsonMapper.shared());
  }

  @AfterEach
  void stop() {
    watched.close();
  }

  @Test
  void holdsWhatTheFileSaysUntilTheNext() throws Exception {
    want(
        "{'format':'tollbooth.fault','version':1,'number':1,'error_probability':0.2,'latency_ms':7}");
    await().until(() -> taken() == 1);
    assertThat(fault.held()).isEqualTo(new Overrides(Optional.of(7), Optional.of(0.2)));

    want("{'format':'tollbooth.fault','version':1,'number':2}");
    await().until(() -> taken() == 2);
    assertThat(fault.held()).isEqualTo(Overrides.NONE);
  }

  @Test
  void answersWithWhatItCounted() throws Exception {
    long startNs = System.nanoTime() - 5_000_000;
    fault.ended(startNs, true);
    fault.ended(startNs, false);
    fault.gaveUp();
    want("{'format':'tollbooth.fault','version':1,'number':3}");
    await().until(() -> taken() == 3);

    JsonNode answer = answer();
    assertThat(answer.get("format").asString()).isEqualTo("tollbooth.fault-taken");
    assertThat(answer.get("version").asInt()).isEqualTo(1);
    assertThat(answer.get("operations").asLong()).isEqualTo(2);
    assertThat(answer.get("errors").asLong()).isEqualTo(1);
    assertThat(answer.get("waited_ns").asLong()).isGreaterThanOrEqualTo(10_000_000);
    assertThat(answer.get("given_up").asLong()).isEqualTo(1);
  }

  @Test
  void takesNothingFromAWrongFileAndGoesOnToWatch() throws Exception {
    want("{'format':'tollbooth.fault','version':2,'number':1,'error_probability':1}");
    want("{'format':'tollbooth.fault','version':1,'number':1,'error_probability':2}");
    want("no JSON");
    want("{'format':'tollbooth.fault','version':1,'number':4}");
    await().until(() -> taken() == 4);
    assertThat(fault.held()).isEqualTo(Overrides.NONE);
  }

  private void want(String json) {
    AtomicFile.write(folder.resolve("s1.fault.json"), json.replace('\'', '"'));
  }

  private int taken() throws Exception {
    return Files.exists(folder.resolve("s1.fault-taken.json")) ? answer().get("number").asInt() : 0;
  }

  private JsonNode answer() throws Exception {
    return JsonMapper.shared().readTree(Files.readString(folder.resolve("s1.fault-taken.json")));
  }
}
