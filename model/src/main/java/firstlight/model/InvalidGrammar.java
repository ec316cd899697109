package firstlight.model;

/** A constraint that cannot be honoured. The message is one line, made for people. */
public final class InvalidGrammar extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public InvalidGrammar(String message) {
    super(message, null, false, false);
  }
}
