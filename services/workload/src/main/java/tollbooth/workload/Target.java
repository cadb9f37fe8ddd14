package tollbooth.workload;

/**
 * One operation of one node: what a call asks.
 *
 * @param node the node's name, which is also its host name
 * @param operation the operation's name
 */
public record Target(String node, String operation) {

  /** As a topology writes it: {@code a1.work}. */
  @Override
  public String toString() {
    return node + "." + operation;
  }
}
