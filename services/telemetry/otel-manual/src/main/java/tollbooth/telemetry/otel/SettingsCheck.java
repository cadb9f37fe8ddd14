package tollbooth.telemetry.otel;

import org.springframework.boot.bootstrap.BootstrapRegistry;
import org.springframework.boot.bootstrap.BootstrapRegistryInitializer;

/** Looks at this variant's own variable before Spring starts, so that a mistake is one line. */
final class SettingsCheck implements BootstrapRegistryInitializer {

  @Override
  public void initialize(BootstrapRegistry registry) {
    ExtraAttributes.parse(System.getenv(ExtraAttributes.VARIABLE));
  }
}
