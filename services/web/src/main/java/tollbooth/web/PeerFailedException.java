package tollbooth.web;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.workload.Target;

/** A peer did not do what it was asked; to whoever asked this node, that is a bad gateway. */
public final class PeerFailedException extends ResponseStatusException {

  private static final long serialVersionUID = 1L;

  /**
   * Says what a peer did instead.
   *
   * @param target whom was asked for what
   * @param problem what became of it
   */
  public PeerFailedException(Target target, String problem) {
    super(HttpStatus.BAD_GATEWAY, target + " " + problem);
  }
}
