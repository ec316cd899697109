package firstlight.model;

import java.util.List;

/**
 * Takes one answer apart while it comes in. However its text is cut into pieces, the parts joined
 * are the same. What looks like a call and turns out to be none is text.
 */
public interface AnswerParser {
  /**
   * More of the answer's text.
   *
   * @param text whole characters
   */
  List<AnswerPart> next(String text);

  /** The answer is over: what was held back. */
  List<AnswerPart> end();

  /** One that knows neither calls nor reasoning. */
  static AnswerParser plain() {
    return new AnswerParser() {
      @Override
      public List<AnswerPart> next(String text) {
        return text.isEmpty() ? List.of() : List.of(new AnswerPart.Text(text));
      }

      @Override
      public List<AnswerPart> end() {
        return List.of();
      }
    };
  }
}
