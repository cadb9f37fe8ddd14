package tollbooth.workload;

import java.util.Collection;

/** A request names an operation that the node does not have. */
public final class UnknownOperationException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Names the operation and the available ones. */
  public UnknownOperationException(String operation, Collection<String> operations) {
    super("no operation '" + operation + "'; available: " + operations);
  }
}
