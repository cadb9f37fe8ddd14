package tollbooth.telemetry.otel;

import org.springframework.boot.bootstrap.BootstrapRegistry;
import org.springframework.boot.bootstrap.BootstrapRegistryInitializer;

/** Validates this variant's own variable before Spring starts, so an error is one line. */
final class SettingsCheck implements BootstrapRegistryInitializer {

  @Override
  public void initialize(BootstrapRegistry registry) {
    ExtraAttributes.parse(System.getenv(ExtraAttributes.VARIABLE));
  }
}
