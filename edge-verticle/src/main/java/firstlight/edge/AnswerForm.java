package firstlight.edge;

import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What form an answer is to have: which tools it may or must call, and what its text must keep to.
 *
 * @param tools that the model is told of
 * @param parallel whether it may call several in one answer
 * @param text what its text must keep to where it calls none; empty: nothing
 */
record AnswerForm(List<Tool> tools, ToolChoice choice, boolean parallel, Optional<TextForm> text) {
  static final AnswerForm FREE = new AnswerForm(List.of(), ToolChoice.AUTO, true, Optional.empty());

  AnswerForm {
    tools = List.copyOf(tools);
  }

  /** One without tools. */
  static AnswerForm ofText(Optional<TextForm> text) {
    return new AnswerForm(List.of(), ToolChoice.AUTO, true, text);
  }

  /** The tools as templates show them. */
  List<Map<String, Object>> definitions() {
    return tools.stream().map(Tool::definition).toList();
  }
}
