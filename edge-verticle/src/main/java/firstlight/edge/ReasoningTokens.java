package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.model.Utf8Stream;
import java.util.List;

/** Counts the tokens of an answer's reasoning: those after which the answer stands in it. */
final class ReasoningTokens {
  private final AnswerParser parser;
  private final Utf8Stream characters = new Utf8Stream();
  private boolean reasoning;
  private int count;

  /**
   * @param parser for this alone
   */
  ReasoningTokens(AnswerParser parser) {
    this.parser = parser;
  }

  void add(List<TurnToken> tokens) {
    for (TurnToken token : tokens) {
      String text = characters.feed(token.bytes());
      if (!text.isEmpty()) {
        parser.next(text).forEach(part -> reasoning = part instanceof AnswerPart.Reasoning);
      }
      count += reasoning ? 1 : 0;
    }
  }

  int count() {
    return count;
  }
}
