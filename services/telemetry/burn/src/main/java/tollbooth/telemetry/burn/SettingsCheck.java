package tollbooth.telemetry.burn;

import org.springframework.boot.bootstrap.BootstrapRegistry;
import org.springframework.boot.bootstrap.BootstrapRegistryInitializer;

/** Validates this variant's own variables before Spring starts, so an error is one line. */
final class SettingsCheck implements BootstrapRegistryInitializer {

  @Override
  public void initialize(BootstrapRegistry registry) {
    BurnSettings.parse(System.getenv());
  }
}
