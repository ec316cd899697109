package firstlight.model;

import java.util.List;
import java.util.Optional;

/** That of a model which has no calls. */
final class PlainFormat implements ToolFormat {
  @Override
  public AnswerParser parser(boolean tools, String promptEnd) {
    return AnswerParser.plain();
  }

  @Override
  public Optional<Grammar> grammar(AnswerRules rules, String promptEnd) {
    return rules.text();
  }

  @Override
  public boolean tellsTools() {
    return true;
  }

  @Override
  public List<ChatMessage> messages(
      List<ChatMessage> messages, List<Tool> tools, ToolChoice choice) {
    return messages;
  }
}
