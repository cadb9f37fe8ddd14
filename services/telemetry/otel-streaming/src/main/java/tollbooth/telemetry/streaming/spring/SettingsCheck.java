package tollbooth.telemetry.streaming.spring;

import org.springframework.boot.bootstrap.BootstrapRegistry;
import org.springframework.boot.bootstrap.BootstrapRegistryInitializer;
import tollbooth.telemetry.streaming.StreamingSettings;
import tollbooth.web.SettingsException;

/** Validates the tracer's variables before Spring starts, so an error is one line. */
final class SettingsCheck implements BootstrapRegistryInitializer {

  @Override
  public void initialize(BootstrapRegistry registry) {
    try {
      StreamingSettings.ofProcess();
    } catch (IllegalArgumentException wrong) {
      throw new SettingsException(wrong.getMessage());
    }
  }
}
