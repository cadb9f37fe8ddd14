package tollbooth.workload;

/** A topology that cannot be used. Its message is one line for the person who wrote the file. */
public final class TopologyException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * A fault at one place.
   *
   * @param node the node's name, or {@code topology} where the fault is in no node
   * @param field the field's path inside the node
   * @param problem what is wrong with it, and what to do
   */
  TopologyException(String node, String field, String problem) {
    super(node + ": " + field + ": " + problem);
  }
}
