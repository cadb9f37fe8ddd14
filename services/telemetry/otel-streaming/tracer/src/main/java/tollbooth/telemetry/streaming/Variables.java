package tollbooth.telemetry.streaming;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A process's variables. Each mistake is an {@link IllegalArgumentException} whose message is one
 * line. A variable that is empty counts as not set.
 */
final class Variables {

  private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}) ?(ms|s|m|h|d)?");
  private static final Pattern WHOLE = Pattern.compile("[0-9]{1,10}");
  private static final Duration LONGEST = Duration.ofDays(1);
  private static final Pattern PRINTABLE = Pattern.compile("[\\x20-\\x7e]*");

  /** Headers that say where a request goes, or how its body is sent. */
  private static final Pattern OF_HTTP =
      Pattern.compile("host|connection|transfer-encoding|content-.*", Pattern.CASE_INSENSITIVE);

  private final Map<String, String> given = new TreeMap<>();
  private final Set<String> known = new TreeSet<>();

  Variables(Map<String, String> all) {
    all.forEach((name, value) -> {
      if (!value.isBlank()) {
        given.put(name, value.strip());
      }
    });
  }

  /** The first of these that is set; the last one if none is. */
  String firstOf(String... names) {
    String found = names[names.length - 1];
    for (int i = names.length - 1; i >= 0; i--) {
      known.add(names[i]);
      found = given.containsKey(names[i]) ? names[i] : found;
    }
    return found;
  }

  /** The text of a variable. */
  String text(String name, String otherwise) {
    known.add(name);
    return given.getOrDefault(name, otherwise);
  }

  /** What a parser makes of a variable's text, or says in its {@link IllegalArgumentException}. */
  <T> T parsed(String name, String otherwise, Function<String, T> parser) {
    String text = text(name, otherwise);
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(name + ": " + wrong.getMessage(), wrong);
    }
  }

  /** One of several values by name. */
  <T> T choice(String name, String otherwise, Map<String, T> choices) {
    return parsed(
        name,
        otherwise,
        text -> {
          T chosen = choices.get(text);
          if (chosen == null) {
            throw mustBe("one of " + String.join(", ", new TreeSet<>(choices.keySet())), text);
          }
          return chosen;
        });
  }

  /** A whole number within bounds, both of which are valid. */
  int whole(String name, int otherwise, int least, int most) {
    return parsed(name, "", text -> text.isEmpty() ? otherwise : toWhole(text, least, most));
  }

  private static int toWhole(String text, int least, int most) {
    long number = WHOLE.matcher(text).matches() ? Long.parseLong(text) : -1;
    if (number < Math.max(0, least) || number > most) {
      throw mustBe("a whole number from " + least + " to " + most, text);
    }
    return (int) number;
  }

  /** A number from 0 to 1. */
  double fraction(String name, double otherwise) {
    return parsed(name, "", text -> text.isEmpty() ? otherwise : toFraction(text));
  }

  private static double toFraction(String text) {
    double number;
    try {
      number = Double.parseDouble(text);
    } catch (NumberFormatException none) {
      number = Double.NaN;
    }
    if (!(number >= 0 && number <= 1)) {
      throw mustBe("a number from 0 to 1", text);
    }
    return number;
  }

  /** A time in milliseconds, or with one of the units ms, s, m, h and d. */
  Duration duration(String name, Duration otherwise) {
    return parsed(name, "", text -> text.isEmpty() ? otherwise : toDuration(text));
  }

  private static Duration toDuration(String text) {
    Matcher parts = DURATION.matcher(text);
    if (!parts.matches()) {
      throw mustBe("a time such as 500, 500ms or 5s", text);
    }
    long amount = Long.parseLong(parts.group(1));
    Duration found =
        switch (parts.group(2)) {
          case "s" -> Duration.ofSeconds(amount);
          case "m" -> Duration.ofMinutes(amount);
          case "h" -> Duration.ofHours(amount);
          case "d" -> Duration.ofDays(amount);
          case null, default -> Duration.ofMillis(amount);
        };
    if (found.isZero() || found.compareTo(LONGEST) > 0) {
      throw mustBe("longer than 0 and at most a day", text);
    }
    return found;
  }

  /** Pairs such as {@code a=1,b=2}, with values as in a URL. */
  Map<String, String> pairs(String name) {
    return parsed(
        name,
        "",
        text -> {
          Map<String, String> pairs = new LinkedHashMap<>();
          for (String pair : text.split(",")) {
            if (!pair.isBlank()) {
              int equals = pair.indexOf('=');
              if (equals < 1 || pair.substring(0, equals).isBlank()) {
                // Not repeated: headers may be secrets.
                throw new IllegalArgumentException("must be pairs such as a=1,b=2");
              }
              pairs.put(
                  pair.substring(0, equals).strip(), decoded(pair.substring(equals + 1).strip()));
            }
          }
          return pairs;
        });
  }

  /** Pairs that become headers: no line breaks, and none that would change the request itself. */
  Map<String, String> headers(String name) {
    Map<String, String> headers = pairs(name);
    headers.forEach((key, value) -> {
      if (!key.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+") || !PRINTABLE.matcher(value).matches()) {
        throw new IllegalArgumentException(name + ": '" + key + "' cannot be a header");
      }
      if (OF_HTTP.matcher(key).matches()) {
        throw new IllegalArgumentException(name + ": '" + key + "' is set by the transport");
      }
    });
    return headers;
  }

  private static String decoded(String value) {
    // Only percent signs are special here, while a URL's plus sign is a space.
    return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static IllegalArgumentException mustBe(String what, String text) {
    return new IllegalArgumentException("must be " + what + ", not '" + text + "'");
  }

  /** Rejects every variable with one of these beginnings that nobody read. */
  void rejectOthers(String... beginnings) {
    for (String name : given.keySet()) {
      for (String beginning : beginnings) {
        if (name.startsWith(beginning) && !known.contains(name)) {
          throw new IllegalArgumentException(
              name + ": the streaming tracer does not know this variable; unset it");
        }
      }
    }
  }
}
