package tollbooth.gateway;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import tollbooth.web.NodeApplication;

/** The program of a gateway's container. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(RouteController.class)
public class Application {

  /** Starts the node that the environment describes. */
  public static void main(String[] arguments) {
    NodeApplication.start(Application.class, "gateway");
  }
}
