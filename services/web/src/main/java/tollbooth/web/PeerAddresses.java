package tollbooth.web;

import java.net.URI;
import tollbooth.workload.Kinds;
import tollbooth.workload.Topology;

/** Where the nodes of a topology listen. */
@FunctionalInterface
public interface PeerAddresses {

  /** The port of nodes that are called by REST. */
  int REST_PORT = 8080;

  /** The port of nodes that are called by gRPC. */
  int GRPC_PORT = 9090;

  /**
   * The lab adds this to a node's name. The bare name of a container resolves in every network, so
   * calls to a restarted container could use the telemetry network. This name resolves in the
   * application network only. The domain is reserved, so no one else can own it.
   */
  String DOMAIN = ".internal";

  /** In the lab: the host name comes from the node's name, the port from its protocol. */
  static PeerAddresses byHostName(Topology topology) {
    return node -> {
      boolean grpc = topology.nodes().get(node).kind().equals(Kinds.SVC_B);
      return URI.create("http://" + node + DOMAIN + ":" + (grpc ? GRPC_PORT : REST_PORT));
    };
  }

  /** The address of a node, without a path. */
  URI of(String node);
}
