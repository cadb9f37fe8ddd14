package tollbooth.web;

import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.RestClient;
import tools.jackson.databind.json.JsonMapper;

/** The beans that every service has. */
@Configuration(proxyBeanMethods = false)
class NodeConfiguration {

  private static final int CONNECTIONS = 1000;

  /**
   * Two of the client's habits would be measured as the system's: it queues calls beyond 5
   * connections to a peer, and it asks again, a second later, whoever answers 503.
   */
  @Bean
  ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> http() {
    return builder ->
        builder
            .withHttpClientCustomizer(HttpClientBuilder::disableAutomaticRetries)
            .withConnectionManagerCustomizer(
                pool -> pool.setMaxConnPerRoute(CONNECTIONS).setMaxConnTotal(CONNECTIONS));
  }

  @Bean
  Peers peers(RestClient.Builder client, NodeSettings settings) {
    return new Peers(client.build(), settings.addresses());
  }

  @Bean
  ReadyFile readyFile(NodeSettings settings, JsonMapper json) {
    return new ReadyFile(settings, json);
  }
}
