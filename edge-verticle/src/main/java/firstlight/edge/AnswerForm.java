package firstlight.edge;

import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import java.util.List;
import java.util.Map;

/**
 * What form an answer is to have: which tools it may or must call, and what its text must keep to.
 *
 * @param tools that the model is told of
 * @param parallel whether it may call several in one answer
 * @param grammar that its text must follow where it calls none, in GBNF; empty: any
 */
record AnswerForm(List<Tool> tools, ToolChoice choice, boolean parallel, String grammar) {
  static final AnswerForm FREE = new AnswerForm(List.of(), ToolChoice.AUTO, true, "");

  AnswerForm {
    tools = List.copyOf(tools);
  }

  /**
   * One without tools.
   *
   * @param grammar as in {@link #grammar}
   */
  static AnswerForm ofText(String grammar) {
    return new AnswerForm(List.of(), ToolChoice.AUTO, true, grammar);
  }

  /** The tools as templates show them. */
  List<Map<String, Object>> definitions() {
    return tools.stream().map(Tool::definition).toList();
  }
}
