package tollbooth.workload;

import java.util.regex.Pattern;

/**
 * Identifies one attempt at one call of one request: the request's number, then the index of each
 * call on the way, joined by dots ({@code 17}, {@code 17.3}, {@code 17.3.0}). An attempt after the
 * first adds its number ({@code 17.3~2}); the calls below it keep it ({@code 17.3~2.0}). The header
 * {@link #HEADER} carries it.
 *
 * @param text the path as it is written
 */
public record CallPath(String text) {

  /** The HTTP header, or gRPC metadata, that carries a path. */
  public static final String HEADER = "tollbooth-call";

  /** The header in which a proxy counts attempts, from 1. */
  public static final String ATTEMPT_HEADER = "x-envoy-attempt-count";

  private static final String ATTEMPTS = "(?:~\\d{1,5})*+";
  private static final Pattern FORM =
      Pattern.compile("\\d{1,19}" + ATTEMPTS + "(?:\\.\\d{1,5}" + ATTEMPTS + ")*+");
  private static final Pattern ATTEMPT = Pattern.compile("\\d{1,5}");

  /**
   * Reads a path that came with a request.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  public static CallPath valueOf(String text) {
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          HEADER + " must be numbers joined by dots, such as 17.3.0");
    }
    return new CallPath(text);
  }

  /** The path of a request from a client. */
  public static CallPath ofRequest(long number) {
    return new CallPath(Long.toString(number));
  }

  /** The path of the call with this index that is made for this one. */
  public CallPath call(int index) {
    return new CallPath(text + "." + index);
  }

  /**
   * The path of an attempt at this call; the first one's is the call's own.
   *
   * @param count the value of {@link #ATTEMPT_HEADER}; null if absent
   * @throws IllegalArgumentException if it is not a number
   */
  public CallPath attempt(String count) {
    if (count == null) {
      return this;
    }
    if (!ATTEMPT.matcher(count).matches()) {
      throw new IllegalArgumentException(ATTEMPT_HEADER + " must be a number, not " + count);
    }
    int number = Integer.parseInt(count);
    return number > 1 ? new CallPath(text + "~" + number) : this;
  }

  @Override
  public String toString() {
    return text;
  }
}
