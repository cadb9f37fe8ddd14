package tollbooth.workload;

import java.util.Collection;

/** A node was asked for an operation that it does not have. */
public final class UnknownOperationException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Names what was asked, and what could have been. */
  public UnknownOperationException(String operation, Collection<String> operations) {
    super("no operation '" + operation + "'; there is: " + operations);
  }
}
