package tollbooth.telemetry.burn;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;
import tollbooth.web.NodeSettings;
import tollbooth.workload.Kinds;
import tools.jackson.databind.json.JsonMapper;

/** Burns in the gateway only: it gets each request of the system once. */
@AutoConfiguration
@Conditional(BurnConfiguration.OnGateway.class)
public class BurnConfiguration {

  @Bean
  @ConditionalOnMissingBean
  BurnSettings burnSettings() {
    return BurnSettings.parse(System.getenv());
  }

  @Bean
  Burner burner(BurnSettings burns, NodeSettings node, JsonMapper json) {
    return new Burner(
        burns,
        node.readyDirectory().map(folder -> folder.resolve(node.name() + ".results.json")),
        json);
  }

  @Bean
  FilterRegistrationBean<BurnFilter> burnFilter(Burner burner) {
    return new FilterRegistrationBean<>(new BurnFilter(burner));
  }

  static final class OnGateway implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
      return context
          .getBeanFactory()
          .getBean("nodeSettings", NodeSettings.class)
          .node()
          .kind()
          .equals(Kinds.GATEWAY);
    }
  }
}
