package firstlight.model;

import java.util.List;
import java.util.Optional;

/** That of a model which has no calls. */
final class PlainFormat implements ToolFormat {
  @Override
  public AnswerParser parser(boolean tools) {
    return AnswerParser.plain();
  }

  @Override
  public Optional<Grammar> grammar(List<Tool> tools, ToolChoice choice, boolean parallel) {
    return Optional.empty();
  }

  @Override
  public String instructions(List<Tool> tools, ToolChoice choice) {
    return "";
  }
}
