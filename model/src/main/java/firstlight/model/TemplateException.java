package firstlight.model;

/**
 * A chat template that cannot be used, or that refuses its input; the message may be shown to the
 * client, and is the template's own sentence where it {@linkplain #refusal() refuses}.
 */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean refusal;

  TemplateException(String message) {
    this(message, false);
  }

  private TemplateException(String message, boolean refusal) {
    super(message);
    this.refusal = refusal;
  }

  static TemplateException refusal(String sentence) {
    return new TemplateException(sentence, true);
  }

  /** Whether the template itself refused the conversation ({@code raise_exception}). */
  public boolean refusal() {
    return refusal;
  }
}
