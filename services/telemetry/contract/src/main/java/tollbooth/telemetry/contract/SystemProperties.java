package tollbooth.telemetry.contract;

import java.util.Map;

/** Temporary system properties. Spring and OpenTelemetry's SDK read them like the environment. */
public final class SystemProperties implements AutoCloseable {

  private final Map<String, String> properties;

  private SystemProperties(Map<String, String> properties) {
    this.properties = properties;
  }

  /** Sets these properties until it is closed. */
  public static SystemProperties set(Map<String, String> properties) {
    properties.forEach(System::setProperty);
    return new SystemProperties(properties);
  }

  @Override
  public void close() {
    properties.keySet().forEach(System::clearProperty);
  }
}
