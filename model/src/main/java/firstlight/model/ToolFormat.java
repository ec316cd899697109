package firstlight.model;

import java.util.List;
import java.util.Optional;

/**
 * How a family of models writes its calls of tools and its reasoning, found out from its chat
 * template.
 */
public interface ToolFormat {
  /** The format of a model with this template. */
  static ToolFormat of(ChatTemplate template) {
    return new PlainFormat();
  }

  /** That of a model without a template. */
  static ToolFormat plain() {
    return new PlainFormat();
  }

  /**
   * For one answer.
   *
   * @param tools whether calls are looked for
   */
  AnswerParser parser(boolean tools);

  /**
   * What an answer must keep to so that the choice holds; empty: it may be anything.
   *
   * @param parallel whether there may be several calls
   * @throws InvalidGrammar the parameters of a tool cannot be kept to, or a name in the choice is
   *     no tool's
   */
  Optional<Grammar> grammar(List<Tool> tools, ToolChoice choice, boolean parallel);

  /**
   * What a system message has to say of the tools, where the template says nothing of them itself;
   * else empty.
   */
  String instructions(List<Tool> tools, ToolChoice choice);
}
