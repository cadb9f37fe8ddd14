package tollbooth.web;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.workload.Target;

/** A call to a peer failed. The caller of this node gets "bad gateway". */
public final class PeerFailedException extends ResponseStatusException {

  private static final long serialVersionUID = 1L;

  /**
   * Describes the failure.
   *
   * @param target the peer and its operation
   * @param problem what happened
   */
  public PeerFailedException(Target target, String problem) {
    super(HttpStatus.BAD_GATEWAY, target + " " + problem);
  }
}
