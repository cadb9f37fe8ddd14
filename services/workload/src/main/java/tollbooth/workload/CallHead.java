package tollbooth.workload;

/**
 * What a call carries in addition to its target.
 *
 * @param path identifies the call
 * @param overrides the request's own latency and error probability
 */
public record CallHead(CallPath path, Overrides overrides) {

  /** The head of the call with this index that is made for this one. */
  public CallHead below(int index) {
    return new CallHead(path.call(index), overrides);
  }
}
