package tollbooth.svcb;

/** A call is drawn to fail. Nothing is wrong, so it has no stack trace. */
final class DrawnFailureException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  DrawnFailureException() {
    super("a drawn failure", null, false, false);
  }
}
