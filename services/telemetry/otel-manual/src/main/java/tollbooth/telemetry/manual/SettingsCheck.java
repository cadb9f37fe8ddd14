package tollbooth.telemetry.manual;

import org.springframework.boot.bootstrap.BootstrapRegistry;
import org.springframework.boot.bootstrap.BootstrapRegistryInitializer;

/** Validates this variant's own variable before Spring starts, so an error is one line. */
final class SettingsCheck implements BootstrapRegistryInitializer {

  @Override
  public void initialize(BootstrapRegistry registry) {
    ProcessorChoice.parse(System.getenv(ProcessorChoice.VARIABLE));
  }
}
