package tollbooth.telemetry.streaming;

/** UTF-8 as Java encodes it: half a surrogate pair becomes a question mark. */
final class Utf8 {

  private static final int REPLACEMENT = '?';

  private Utf8() {}

  /** The encoded length in bytes. */
  static int length(String text) {
    int bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit >= 0x800) {
        if (!Character.isSurrogate(unit)) {
          bytes += 2;
        } else if (isPair(text, i)) {
          bytes += 2;
          i++;
        }
      } else if (unit >= 0x80) {
        bytes++;
      }
    }
    return bytes;
  }

  /** A unit of a text whose length in UTF-8 is its length: ASCII or half a pair. */
  static byte ascii(char unit) {
    return (byte) (unit < 0x80 ? unit : REPLACEMENT);
  }

  /**
   * Writes a text as if it were ASCII: one byte for each unit.
   *
   * @return whether it is; otherwise what is written is worthless
   */
  static boolean putAscii(String text, byte[] to, int at) {
    int units = 0;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      to[at + i] = (byte) unit;
      units |= unit;
    }
    return units < 0x80;
  }

  /** Appends a text. */
  static void put(String text, Chain out) {
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < 0x80) {
        out.put(unit);
      } else if (unit < 0x800) {
        out.put(0xc0 | unit >> 6);
        out.put(0x80 | unit & 0x3f);
      } else if (!Character.isSurrogate(unit)) {
        out.put(0xe0 | unit >> 12);
        out.put(0x80 | unit >> 6 & 0x3f);
        out.put(0x80 | unit & 0x3f);
      } else if (isPair(text, i)) {
        putPair(Character.toCodePoint(unit, text.charAt(++i)), out);
      } else {
        out.put(REPLACEMENT);
      }
    }
  }

  private static void putPair(int point, Chain out) {
    out.put(0xf0 | point >> 18);
    out.put(0x80 | point >> 12 & 0x3f);
    out.put(0x80 | point >> 6 & 0x3f);
    out.put(0x80 | point & 0x3f);
  }

  private static boolean isPair(String text, int index) {
    return Character.isHighSurrogate(text.charAt(index))
        && index + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(index + 1));
  }
}
