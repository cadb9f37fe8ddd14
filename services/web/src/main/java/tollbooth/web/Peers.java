package tollbooth.web;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import tollbooth.workload.CallHead;
import tollbooth.workload.Node;
import tollbooth.workload.Target;
import tollbooth.workload.Topology;

/** Calls other nodes, each with the protocol of its kind. */
public final class Peers implements PeerProtocol {

  private final Map<String, PeerProtocol> protocols;

  /**
   * The peers of one node.
   *
   * @param node the caller
   * @param topology has the kind of each peer
   * @param protocols the protocol of a kind
   */
  public Peers(Node node, Topology topology, Function<String, PeerProtocol> protocols) {
    this.protocols =
        node.peers()
            .collect(
                Collectors.toMap(
                    Function.identity(),
                    peer -> protocols.apply(topology.nodes().get(peer).kind())));
  }

  @Override
  public byte[] call(Target target, CallHead head) {
    return protocols.get(target.node()).call(target, head);
  }

  @Override
  public CompletableFuture<?> start(Target target, CallHead head) {
    return protocols.get(target.node()).start(target, head);
  }
}
