package tollbooth.telemetry.streaming;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A span's bytes, and where each attribute's are, so that a later value of the same key replaces
 * them. Serves one span after another; not thread-safe. Lives long: in it, storing a reference
 * costs more than a number, so keys are ids here.
 */
final class Recording {

  /** What is known of an attribute: the id of its key, and where its bytes are. */
  private static final int KEY = 0;

  private static final int START = 1;
  private static final int END = 2;
  private static final int FIELDS = 3;

  /** Room for replaced values: of an empty recording, and the most that it keeps for the next. */
  private static final int LEAST_DEAD = 4;

  private static final int MOST_DEAD_KEPT = 64;
  private static final int MOST_KEPT = 128 * FIELDS;

  /** The span's bytes. */
  final Chain chain;

  /** What the span is on its way. */
  final SpanMessage message = new SpanMessage(this);

  /** When the span started. */
  long startEpochNanos;

  /** Those that came, dropped ones included. */
  int events;

  /** Those that came, dropped ones included. */
  int links;

  private final Limits limits;
  private byte[] scope;
  private int[] attributes = new int[16 * FIELDS];
  private int count;
  private int rejected;

  /** Of each attribute's id the last six bits: most ids are small, so new ones are found fast. */
  private long seen;

  /** Names of keys without an id: the first one gets the id -1, the next one -2. Mostly null. */
  List<String> looseNames;

  /** Where replaced values are, in ascending order. */
  private int[] deadStarts = new int[LEAST_DEAD];

  private int[] deadEnds = new int[LEAST_DEAD];
  private int dead;

  /**
   * Makes an empty recording.
   *
   * @param first the buffer that it keeps
   */
  Recording(BufferPool buffers, Limits limits, Buffer first) {
    this.limits = limits;
    chain = new Chain(buffers, limits.bytes(), first);
  }

  /** What its tracer's scope is on the wire; see {@link WireFormat#scope}. */
  byte[] scope() {
    return scope;
  }

  void setScope(byte[] newScope) {
    if (scope != newScope) {
      scope = newScope;
    }
  }

  /**
   * Opens the attribute of a key; its bytes follow.
   *
   * @return what {@link #close} needs; negative if the attribute is one too many
   */
  int open(Key key) {
    int id = key.id() == Key.NONE ? looseId(key.name()) : key.id();
    long bit = 1L << id;
    int slot = (seen & bit) == 0 ? -1 : slot(id);
    if (slot >= 0) {
      bury(attributes[slot + START], attributes[slot + END]);
    } else if (count >= limits.attributes()) {
      rejected++;
      return -1;
    } else {
      seen |= bit;
      slot = add(id);
    }
    attributes[slot + START] = chain.length();
    // Nothing remains if an exception comes before close.
    attributes[slot + END] = chain.length();
    return slot;
  }

  /** Closes the attribute that {@link #open} opened. */
  void close(int slot) {
    attributes[slot + END] = chain.length();
  }

  private int looseId(String name) {
    if (looseNames == null) {
      looseNames = new ArrayList<>();
    }
    int index = looseNames.indexOf(name);
    if (index < 0) {
      index = looseNames.size();
      // A rejected one is not kept: nothing would bound the names.
      if (count < limits.attributes()) {
        looseNames.add(name);
      }
    }
    return -1 - index;
  }

  private int slot(int id) {
    for (int slot = 0; slot < count * FIELDS; slot += FIELDS) {
      if (attributes[slot + KEY] == id) {
        return slot;
      }
    }
    return -1;
  }

  private int add(int id) {
    int slot = count++ * FIELDS;
    if (slot == attributes.length) {
      attributes = Arrays.copyOf(attributes, 2 * slot);
    }
    attributes[slot + KEY] = id;
    return slot;
  }

  /** A value is replaced: its bytes are removed once there are many such, or at the end. */
  private void bury(int start, int end) {
    if (chain.failure() != null || start == end) {
      // Its bytes are worthless, and so is where they are; or it has none.
      return;
    }
    addDead(start, end);
    if (chain.countDead(end - start)) {
      compact();
    }
  }

  /** Keeps the ranges in ascending order. */
  private void addDead(int start, int end) {
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

  private void compact() {
    removeReplaced();
    int removed = 0;
    for (int i = 0; i < dead; i++) {
      removed += deadEnds[i] - deadStarts[i];
      // From here on, what was removed up to this range's end.
      deadEnds[i] = removed;
    }
    for (int slot = 0; slot < count * FIELDS; slot += FIELDS) {
      int before = removedBefore(attributes[slot + START]);
      attributes[slot + START] -= before;
      attributes[slot + END] -= before;
    }
    dead = 0;
  }

  private int removedBefore(int offset) {
    int found = Arrays.binarySearch(deadStarts, 0, dead, offset);
    // Only the value that is replaced now is found; where it is does not matter any more.
    int ranges = found < 0 ? -1 - found : found;
    return ranges == 0 ? 0 : deadEnds[ranges - 1];
  }

  /** Whether a limit rejected anything. */
  boolean droppedAny() {
    return rejected > 0 || events > limits.events() || links > limits.links();
  }

  /** The calls that the limit rejected. A value that a later one replaced does not count. */
  int droppedAttributes() {
    return rejected;
  }

  int droppedEvents() {
    return Math.max(0, events - limits.events());
  }

  int droppedLinks() {
    return Math.max(0, links - limits.links());
  }

  /** Removes the bytes of replaced attributes. */
  void removeReplaced() {
    chain.remove(deadStarts, deadEnds, dead);
  }

  /** Whether it has memory that others may need: more buffers than one, names, or large arrays. */
  boolean holdsMore() {
    return chain.isLong()
        || looseNames != null
        || attributes.length > MOST_KEPT
        || deadStarts.length > MOST_DEAD_KEPT;
  }

  /** Becomes empty. */
  void clear() {
    chain.clear();
    looseNames = null;
    count = 0;
    seen = 0;
    rejected = 0;
    dead = 0;
    if (attributes.length > MOST_KEPT) {
      attributes = new int[MOST_KEPT];
    }
    if (deadStarts.length > MOST_DEAD_KEPT) {
      deadStarts = new int[LEAST_DEAD];
      deadEnds = new int[LEAST_DEAD];
    }
    events = 0;
    links = 0;
  }
}
