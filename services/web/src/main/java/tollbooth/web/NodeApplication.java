package tollbooth.web;

import org.springframework.boot.SpringApplication;
import tollbooth.workload.TopologyException;

/** How every service starts. */
public final class NodeApplication {

  private static final int EXIT_UNUSABLE_SETTINGS = 2;

  private NodeApplication() {}

  /**
   * Starts a service from its environment; with unusable settings, ends the process with one line
   * instead.
   */
  public static void start(Class<?> application, String kind) {
    NodeSettings settings;
    try {
      settings = NodeSettings.read(System.getenv(), kind);
    } catch (SettingsException | TopologyException unusable) {
      System.err.println("tollbooth: " + unusable.getMessage());
      System.exit(EXIT_UNUSABLE_SETTINGS);
      return;
    }
    of(application, settings).run();
  }

  /** A service with the given settings, not yet started. */
  public static SpringApplication of(Class<?> application, NodeSettings settings) {
    SpringApplication spring = new SpringApplication(application, NodeConfiguration.class);
    spring.addInitializers(
        context -> context.getBeanFactory().registerSingleton("nodeSettings", settings));
    return spring;
  }
}
