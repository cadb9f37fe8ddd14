package tollbooth.web;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.core5.http.HttpHost;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.client.RestClient;
import tollbooth.workload.Kinds;
import tools.jackson.databind.json.JsonMapper;

/** The beans that every service has. */
@Configuration(proxyBeanMethods = false)
class NodeConfiguration {

  private static final int CONNECTIONS = 1000;

  /**
   * Two defaults of the client would distort the measurement: it queues calls beyond 5 connections
   * to a peer, and it retries after a second if a peer answers 503.
   */
  @Bean
  ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> http(
      NodeSettings settings) {
    return builder ->
        builder
            .withHttpClientCustomizer(HttpClientBuilder::disableAutomaticRetries)
            .withHttpClientCustomizer(
                client -> settings.peerProxy().ifPresent(proxy -> client.setProxy(httpHost(proxy))))
            .withConnectionManagerCustomizer(
                pool -> pool.setMaxConnPerRoute(CONNECTIONS).setMaxConnTotal(CONNECTIONS));
  }

  @Bean(Kinds.SVC_A)
  @Lazy
  RestPeers restPeers(
      RestClient.Builder client, AsyncTaskExecutor executor, NodeSettings settings) {
    return new RestPeers(client.build(), executor, settings.addresses());
  }

  @Bean
  Peers peers(NodeSettings settings, BeanFactory beans) {
    return new Peers(
        settings.node(), settings.topology(), kind -> beans.getBean(kind, PeerProtocol.class));
  }

  @Bean
  ReadyFile readyFile(NodeSettings settings, JsonMapper json) {
    return new ReadyFile(settings, json);
  }

  @Bean
  NodeFault nodeFault() {
    return new NodeFault();
  }

  @Bean
  @ConditionalOnProperty(name = "watch.faults", havingValue = "1")
  FaultFile faultFile(NodeSettings settings, NodeFault fault, JsonMapper json) {
    Path directory = settings.readyDirectory().orElseThrow();
    return new FaultFile(settings.name(), directory, fault, json);
  }

  private static HttpHost httpHost(InetSocketAddress address) {
    return new HttpHost(address.getHostString(), address.getPort());
  }
}
