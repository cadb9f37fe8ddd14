package tollbooth.web;

/** An invalid setting. Its message is one line for the user. */
public final class SettingsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Names the setting and its valid values in one line. */
  public SettingsException(String message) {
    super(message);
  }
}
