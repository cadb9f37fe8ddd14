package tollbooth.web;

import java.net.http.HttpClient;
import org.springframework.boot.http.client.JdkClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.RestClient;
import tools.jackson.databind.json.JsonMapper;

/** The beans that every service has. */
@Configuration(proxyBeanMethods = false)
class NodeConfiguration {

  /** Without this the JDK's client would offer an upgrade to HTTP/2 with every new connection. */
  @Bean
  ClientHttpRequestFactoryBuilderCustomizer<JdkClientHttpRequestFactoryBuilder> http11() {
    return builder ->
        builder.withHttpClientCustomizer(client -> client.version(HttpClient.Version.HTTP_1_1));
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
