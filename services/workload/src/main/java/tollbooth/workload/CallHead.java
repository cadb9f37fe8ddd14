package tollbooth.workload;

/**
 * What travels with every call besides its target.
 *
 * @param path which call it is
 * @param overrides what its request asks for
 */
public record CallHead(CallPath path, Overrides overrides) {

  /** What travels with the call of this index that is made below this one. */
  public CallHead below(int index) {
    return new CallHead(path.call(index), overrides);
  }
}
