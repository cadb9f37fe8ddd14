package tollbooth.svcb;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import tollbooth.web.NodeApplication;
import tollbooth.workload.Kinds;

/** The program of a gRPC service's container. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(ServiceConfiguration.class)
public class Application {

  /** Starts the node that the environment describes. */
  public static void main(String[] arguments) {
    NodeApplication.start(Application.class, Kinds.SVC_B);
  }
}
