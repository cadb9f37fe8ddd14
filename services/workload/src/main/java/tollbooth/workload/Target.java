package tollbooth.workload;

import com.fasterxml.jackson.annotation.JsonCreator;

/**
 * One operation of one node: the target of a call.
 *
 * @param node the node's name
 * @param operation the operation's name
 */
public record Target(String node, String operation) {

  /** Reads the form that a topology uses: {@code a1.work}. */
  @JsonCreator
  static Target parse(String text) {
    int dot = text.indexOf('.');
    return new Target(text.substring(0, dot), text.substring(dot + 1));
  }

  /** The form that a topology uses: {@code a1.work}. */
  @Override
  public String toString() {
    return node + "." + operation;
  }
}
