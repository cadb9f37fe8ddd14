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

  /**
   * What the lab adds to a node's name for its callers. A container is found by its bare name in
   * every network, so that one that starts again may be called over the network of the telemetry;
   * by this name it is found in the application's alone. Nobody outside can own the domain.
   */
  String DOMAIN = ".internal";

  /** In the lab a node's host name is made from its name, and a protocol has one port. */
  static PeerAddresses byHostName(Topology topology) {
    return node -> {
      boolean grpc = topology.nodes().get(node).kind().equals(Kinds.SVC_B);
      return URI.create("http://" + node + DOMAIN + ":" + (grpc ? GRPC_PORT : REST_PORT));
    };
  }

  /** The address of a node, without a path. */
  URI of(String node);
}
