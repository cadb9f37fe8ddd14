package tollbooth.telemetry.recorder;

/** A queue in which any thread puts messages, and from which only the recorder's thread takes. */
public interface Source {

  /** Takes the next message; null if there is none. */
  Message poll();

  /** How many messages have been put in so far. */
  long offered();

  /**
   * Nothing takes messages any more: the source gives up what still comes. Called by the thread
   * that took them, as the last it does.
   */
  void close();
}
