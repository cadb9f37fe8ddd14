package tollbooth.svcb;

/** A request fails as drawn. This is expected, so it has no stack trace. */
final class DrawnFailureException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  DrawnFailureException() {
    super("a drawn failure", null, false, false);
  }
}
