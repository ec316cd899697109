package firstlight.model;

/**
 * What one rendering may spend. Every evaluated expression, run statement and list element costs a
 * step, every char of a new text costs a char; deeper than the limit nothing is evaluated. So a
 * hostile template ends soon, in little memory, whatever it does.
 */
final class JinjaBudget {
  private static final long STEPS = 300_000;
  // A template runs some dozen steps for each message, and messages have a length.
  private static final int INPUT_CHARS_PER_STEP = 4;
  private static final long CHARS = 1 << 24;
  // A template handles each text of its input a few times.
  private static final int CHARS_PER_INPUT_CHAR = 64;
  private static final int DEPTH_MAX = 400;

  private final long stepsMax;
  private long steps;
  private long chars;
  private int depth;

  JinjaBudget(long inputChars) {
    stepsMax = STEPS + inputChars / INPUT_CHARS_PER_STEP;
    steps = stepsMax;
    chars = CHARS + CHARS_PER_INPUT_CHAR * inputChars;
  }

  /** To be called before so many steps are done. */
  void steps(long count) {
    steps -= count;
    if (count < 0 || steps < 0) {
      throw new TemplateException("the chat template does more than %d steps".formatted(stepsMax));
    }
  }

  /** To be called before so many chars are made. */
  void chars(long count) {
    chars -= count;
    if (count < 0 || chars < 0) {
      throw new TemplateException("the chat template makes too much text");
    }
  }

  /** To be called before a text is looked through: cheaper than making it. */
  void scan(String text) {
    chars(text.length() / 8);
  }

  void enter() {
    steps(1);
    if (++depth > DEPTH_MAX) {
      throw new TemplateException("the chat template nests deeper than %d".formatted(DEPTH_MAX));
    }
  }

  void leave() {
    depth--;
  }
}
