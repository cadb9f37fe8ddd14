package tollbooth.grpc;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.grpc.client.GrpcChannelFactory;
import tollbooth.web.NodeSettings;
import tollbooth.workload.Kinds;

/** Lets a service call svc-b if this module is on its class path. */
@AutoConfiguration
public class GrpcPeersConfiguration {

  @Bean(Kinds.SVC_B)
  @Lazy
  GrpcPeers grpcPeers(GrpcChannelFactory channels, NodeSettings settings) {
    return new GrpcPeers(channels, settings.addresses(), settings.peerProxy());
  }
}
