package tollbooth.web;

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

  /** The client's own limit of 5 connections to a peer would make calls queue in the caller. */
  @Bean
  ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> pool() {
    return builder ->
        builder.withConnectionManagerCustomizer(
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
