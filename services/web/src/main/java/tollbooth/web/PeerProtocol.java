package tollbooth.web;

import java.util.concurrent.CompletableFuture;
import tollbooth.workload.CallHead;
import tollbooth.workload.Target;

/**
 * How nodes of one kind are called. Its bean has the kind's name. Only the needed beans are
 * created.
 */
public interface PeerProtocol {

  /**
   * Calls a peer and waits for its answer.
   *
   * @param target the peer and its operation
   * @param head the head of the call
   * @return the answer as JSON
   * @throws PeerFailedException if the peer answers with an error, or not at all
   */
  byte[] call(Target target, CallHead head);

  /**
   * Calls a peer without waiting.
   *
   * @param target the peer and its operation
   * @param head the head of the call
   * @return completes when the peer has answered; fails like {@link #call}
   */
  CompletableFuture<?> start(Target target, CallHead head);
}
