package tollbooth.svcb;

import io.grpc.netty.NettyServerBuilder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import tollbooth.web.NodeFault;
import tollbooth.web.NodeSettings;
import tollbooth.web.Peers;
import tollbooth.workload.Behaviour;

/** The beans of a gRPC service. */
@Configuration(proxyBeanMethods = false)
class ServiceConfiguration {

  /** Requests run on the thread that receives them: nothing in this service blocks it. */
  @Bean
  ServerBuilderCustomizer<NettyServerBuilder> withoutThreadsOfItsOwn() {
    return NettyServerBuilder::directExecutor;
  }

  @Bean
  @GlobalServerInterceptor
  MetadataInterceptor metadataInterceptor() {
    return new MetadataInterceptor();
  }

  @Bean
  Performer performer(Peers peers, NodeFault fault, ObjectProvider<TaskDecorator> decorators) {
    return new Performer(
        peers, fault, new CompositeTaskDecorator(decorators.orderedStream().toList()));
  }

  @Bean
  MockService mockService(NodeSettings settings, NodeFault fault, Performer performer) {
    Behaviour behaviour = new Behaviour(settings.name(), settings.node(), settings.seed());
    return new MockService(settings.name(), behaviour, fault, performer);
  }
}
