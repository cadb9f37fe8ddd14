package tollbooth.telemetry.streaming;

import java.util.function.Function;

/**
 * The keys of a format, encoded once. A program has few different ones. A key whose encoding is
 * kept is kept for good, any other never will be; so two keys with different ids differ.
 */
final class Keys {

  private static final int MOST = 1 << 10;
  private static final int LONGEST = 256;
  private static final int MASK = 2 * MOST - 1;

  private final Function<String, byte[]> encoding;

  /** Read without a lock: a key never changes, and each place is filled once. */
  private final Key[] places = new Key[2 * MOST];

  private int count;
  private volatile boolean full;

  /**
   * Makes an empty table.
   *
   * @param encoding what a key is on the wire
   */
  Keys(Function<String, byte[]> encoding) {
    this.encoding = encoding;
  }

  /** The key of a name that is not empty. */
  Key get(String name) {
    Key key = find(name);
    return key == null ? add(name) : key;
  }

  private Key find(String name) {
    int place = first(name);
    Key key = places[place];
    while (key != null && !key.name().equals(name)) {
      place = place + 1 & MASK;
      key = places[place];
    }
    return key;
  }

  /** The first place where a name may be; the others follow. */
  private static int first(String name) {
    int hash = name.hashCode();
    return (hash ^ hash >>> 16) & MASK;
  }

  private Key add(String name) {
    if (name.length() > LONGEST) {
      return loose(name);
    }
    if (full) {
      // Looked up again: the last ones may have come meanwhile.
      Key key = find(name);
      return key == null ? loose(name) : key;
    }
    return keep(name);
  }

  private synchronized Key keep(String name) {
    Key known = find(name);
    if (known != null) {
      return known;
    }
    if (count == MOST) {
      return loose(name);
    }
    int place = first(name);
    while (places[place] != null) {
      place = place + 1 & MASK;
    }
    Key added = new Key(name, count++, encoding.apply(name));
    places[place] = added;
    full = count == MOST;
    return added;
  }

  private Key loose(String name) {
    return new Key(name, Key.NONE, encoding.apply(name));
  }
}
