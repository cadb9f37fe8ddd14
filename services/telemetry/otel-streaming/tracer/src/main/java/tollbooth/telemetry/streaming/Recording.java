package tollbooth.telemetry.streaming;

import java.util.Arrays;

/**
 * A span's bytes, and where each attribute's are, so that a later value of the same key replaces
 * them. Serves one span after another; not thread-safe.
 */
final class Recording {

  /** The span's bytes. */
  final Chain chain;

  /** What the span is on its way. */
  final SpanMessage message = new SpanMessage(this);

  /** What its tracer's scope is on the wire; see {@link WireFormat#scope}. */
  byte[] scope;

  /** When the span started. */
  long startEpochNanos;

  int events;
  int links;

  private final int mostAttributes;
  private String[] keys = new String[16];
  private int[] starts = new int[16];
  private int[] ends = new int[16];
  private int attributes;
  private int refused;
  private int[] deadStarts = new int[4];
  private int[] deadEnds = new int[4];
  private int dead;

  Recording(BufferPool buffers, Limits limits) {
    chain = new Chain(buffers, limits.bytes());
    mostAttributes = limits.attributes();
  }

  /**
   * Opens the attribute of a key; its bytes follow.
   *
   * @return what {@link #close} needs; negative if the attribute is one too many
   */
  int open(String key) {
    int slot = slot(key);
    if (slot < attributes) {
      bury(starts[slot], ends[slot]);
    } else if (attributes >= mostAttributes) {
      refused++;
      return -1;
    } else {
      keep(key);
    }
    starts[slot] = chain.length();
    return slot;
  }

  /** Closes the attribute that {@link #open} opened. */
  void close(int slot) {
    ends[slot] = chain.length();
  }

  private int slot(String key) {
    int hash = key.hashCode();
    for (int i = 0; i < attributes; i++) {
      // A text knows its hash code: keys that differ are seldom compared.
      if (keys[i].hashCode() == hash && keys[i].equals(key)) {
        return i;
      }
    }
    return attributes;
  }

  private void keep(String key) {
    if (attributes == keys.length) {
      keys = Arrays.copyOf(keys, 2 * attributes);
      starts = Arrays.copyOf(starts, 2 * attributes);
      ends = Arrays.copyOf(ends, 2 * attributes);
    }
    keys[attributes++] = key;
  }

  /** Keeps the ranges in ascending order. */
  private void bury(int start, int end) {
    if (dead == deadStarts.length) {
      deadStarts = Arrays.copyOf(deadStarts, 2 * dead);
      deadEnds = Arrays.copyOf(deadEnds, 2 * dead);
    }
    int place = dead++;
    while (place > 0 && deadStarts[place - 1] > start) {
      deadStarts[place] = deadStarts[place - 1];
      deadEnds[place] = deadEnds[place - 1];
      place--;
    }
    deadStarts[place] = start;
    deadEnds[place] = end;
  }

  /** The calls that the limit refused. A value that a later one replaced does not count. */
  int droppedAttributes() {
    return refused;
  }

  /** Removes the bytes of replaced attributes. */
  void removeReplaced() {
    chain.remove(deadStarts, deadEnds, dead);
  }

  /** Forgets everything but the chain. */
  void reset() {
    Arrays.fill(keys, 0, attributes, null);
    scope = null;
    attributes = 0;
    refused = 0;
    dead = 0;
    events = 0;
    links = 0;
  }
}
