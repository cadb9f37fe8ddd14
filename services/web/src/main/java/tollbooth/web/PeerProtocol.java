package tollbooth.web;

import java.util.concurrent.CompletableFuture;
import tollbooth.workload.CallHead;
import tollbooth.workload.Target;

/**
 * How nodes of one kind are asked. Its bean has the kind's name; only those that are needed are
 * made.
 */
public interface PeerProtocol {

  /**
   * Asks a peer and waits for its answer.
   *
   * @param target whom to ask for what
   * @param head goes with the call
   * @return the answer as JSON
   * @throws PeerFailedException where the peer answers with an error, or not at all
   */
  byte[] ask(Target target, CallHead head);

  /**
   * Asks a peer without waiting.
   *
   * @param target whom to ask for what
   * @param head goes with the call
   * @return done when the peer has answered; fails as {@link #ask} does
   */
  CompletableFuture<?> start(Target target, CallHead head);
}
