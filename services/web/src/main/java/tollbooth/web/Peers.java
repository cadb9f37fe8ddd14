package tollbooth.web;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import tollbooth.workload.CallHead;
import tollbooth.workload.Node;
import tollbooth.workload.Target;
import tollbooth.workload.Topology;

/** Asks other nodes for their operations, each by its own kind's protocol. */
public final class Peers implements PeerProtocol {

  private final Map<String, PeerProtocol> protocols;

  /**
   * The peers of one node.
   *
   * @param node who asks
   * @param topology tells the kind of whom it asks
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
  public byte[] ask(Target target, CallHead head) {
    return protocols.get(target.node()).ask(target, head);
  }

  @Override
  public CompletableFuture<?> start(Target target, CallHead head) {
    return protocols.get(target.node()).start(target, head);
  }
}
