package tollbooth.web;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import tollbooth.workload.Kinds;
import tollbooth.workload.TopologyException;

/** How every service starts. */
public final class NodeApplication {

  private static final int EXIT_UNUSABLE_SETTINGS = 2;

  private NodeApplication() {}

  /**
   * Starts a service from its environment; with unusable settings, its own or those that a variant
   * checks before Spring starts, ends the process with one line instead.
   */
  public static void start(Class<?> application, String kind) {
    try {
      of(application, NodeSettings.read(System.getenv(), kind)).run();
    } catch (SettingsException | TopologyException unusable) {
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
      // Nobody asks it by HTTP, so it starts no such server; a variant that needs one says so.
      spring.setWebApplicationType(WebApplicationType.NONE);
    }
    return spring;
  }
}
