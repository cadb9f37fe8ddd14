package tollbooth.web;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import tollbooth.workload.Kinds;

/** Starts a service. */
public final class NodeApplication {

  private static final int EXIT_UNUSABLE_SETTINGS = 2;

  private NodeApplication() {}

  /**
   * Starts a service from its environment. If a setting is invalid (the service's own, or a
   * variant's that is checked before Spring starts), ends the process with one line instead.
   */
  public static void start(Class<?> application, String kind) {
    try {
      of(application, NodeSettings.read(System.getenv(), kind)).run();
    } catch (SettingsException unusable) {
      System.err.println("tollbooth: " + unusable.getMessage());
      System.exit(EXIT_UNUSABLE_SETTINGS);
    }
  }

  /** A service with the given settings, not yet started. */
  public static SpringApplication of(Class<?> application, NodeSettings settings) {
    SpringApplication spring = new SpringApplication(application, NodeConfiguration.class);
    spring.addInitializers(
        context -> context.getBeanFactory().registerSingleton("nodeSettings", settings));
    if (settings.node().kind().equals(Kinds.SVC_B)) {
      // It serves gRPC only. A variant that needs an HTTP server sets the type itself.
      spring.setWebApplicationType(WebApplicationType.NONE);
    }
    return spring;
  }
}
