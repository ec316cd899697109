package firstlight.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an answer is to be.
 *
 * @param tools that the model is told of
 * @param choice whether it may or must call them
 * @param parallel whether there may be several calls
 * @param text what its text must keep to, where it calls none; empty: nothing
 */
public record AnswerRules(
    List<Tool> tools, ToolChoice choice, boolean parallel, Optional<Grammar> text) {
  public AnswerRules {
    tools = List.copyOf(tools);
  }

  /**
   * The tools that may be called if any is.
   *
   * @throws InvalidGrammar a name in the choice is no tool's, or there is none where one is asked
   *     for
   */
  List<Tool> callable() {
    for (String name : choice.names()) {
      if (tools.stream().noneMatch(tool -> tool.name().equals(name))) {
        throw new InvalidGrammar("there is no tool %s".formatted(InvalidModelFile.shown(name)));
      }
    }
    if (tools.isEmpty() && choice.mode().isMust()) {
      throw new InvalidGrammar("a call is required, but there is no tool");
    }
    List<Tool> callable = new ArrayList<>(tools);
    callable.removeIf(tool -> !choice.names().isEmpty() && !choice.names().contains(tool.name()));
    return callable;
  }
}
