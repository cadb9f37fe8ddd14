package tollbooth.web;

import java.net.URI;
import tollbooth.workload.Kinds;
import tollbooth.workload.Topology;

/** Where the nodes of a topology listen. */
@FunctionalInterface
public interface PeerAddresses {

  /** Where nodes listen that are asked by REST. */
  int REST_PORT = 8080;

  /** Where nodes listen that are asked by gRPC. */
  int GRPC_PORT = 9090;

  /** In the lab a node's name is its host name, and all of one protocol listen on one port. */
  static PeerAddresses byContainerName(Topology topology) {
    return node -> {
      boolean grpc = topology.nodes().get(node).kind().equals(Kinds.SVC_B);
      return URI.create("http://" + node + ":" + (grpc ? GRPC_PORT : REST_PORT));
    };
  }

  /** The address of a node, without a path. */
  URI of(String node);
}
