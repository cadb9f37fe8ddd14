package tollbooth.workload;

import java.util.regex.Pattern;

/**
 * Names one call of one request: the request's number, then the index of each call on the way,
 * joined by dots ({@code 17}, {@code 17.3}, {@code 17.3.0}). It travels with the call, as header
 * {@link #HEADER}.
 *
 * @param text the path as it is written
 */
public record CallPath(String text) {

  /** The HTTP header that carries a path. */
  public static final String HEADER = "tollbooth-call";

  private static final Pattern FORM = Pattern.compile("\\d{1,19}(?:\\.\\d{1,5})*+");

  /**
   * Reads a path that came with a request.
   *
   * @throws IllegalArgumentException where it is not one
   */
  public static CallPath valueOf(String text) {
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          HEADER + " must be numbers joined by dots, such as 17.3.0");
    }
    return new CallPath(text);
  }

  /** The path of a request that comes from outside. */
  public static CallPath ofRequest(long number) {
    return new CallPath(Long.toString(number));
  }

  /** The path of the call with this index that is made below this one. */
  public CallPath call(int index) {
    return new CallPath(text + "." + index);
  }

  @Override
  public String toString() {
    return text;
  }
}
