package tollbooth.web;

/**
 * Settings that a service cannot start with. Its message is one line for the person who wrote them.
 */
public final class SettingsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says in one line which setting is wrong, and what it may be. */
  public SettingsException(String message) {
    super(message);
  }
}
