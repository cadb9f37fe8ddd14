package tollbooth.telemetry.recorder;

/** To which of several connections fresh spans go. */
public enum Routing {
  /** To any that takes data, as the proposal has it: a slow endpoint gets fewer. */
  ANY_WRITABLE,
  /**
   * To each in turn, a write at a time. All wait for the one whose turn it is, except for one that
   * is not connected.
   */
  ROUND_ROBIN
}
