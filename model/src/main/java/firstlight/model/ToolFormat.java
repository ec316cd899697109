package firstlight.model;

import java.util.List;
import java.util.Optional;

/**
 * How a family of models writes its calls of tools and its reasoning, found out from its chat
 * template.
 */
public interface ToolFormat {
  /**
   * The format of a model with this template, by what stands in its source, the first of these that
   * fits:
   *
   * <ul>
   *   <li>{@code [TOOL_CALLS]}: Mistral's, with {@code [ARGS]} the newer one;
   *   <li>{@code <tool_call>}: that of Hermes and Qwen;
   *   <li>{@code tool_code}: Python's notation in a block of code;
   *   <li>{@code <|python_tag|>}, or {@code "name": } after a brace and {@code "parameters": }:
   *       Llama 3's;
   *   <li>{@code func_name1(}: Python's notation;
   *   <li>{@code <start_of_turn>}: Gemma, whose templates say nothing of tools: Python's notation
   *       in a block of code;
   *   <li>else the notation of Hermes.
   * </ul>
   *
   * <p>In the last two cases, and where the template has no {@code tools}, the model is told of
   * tools by {@link #messages}. Without {@code tool_calls} in the template earlier calls and
   * results are written as text. Reasoning is looked for where the template has {@code <think>} or
   * {@code </think>}.
   */
  static ToolFormat of(ChatTemplate template) {
    return template.format();
  }

  /** That of a model without a template, and of raw prompts. */
  static ToolFormat plain() {
    return new PlainFormat();
  }

  /**
   * For one answer.
   *
   * @param tools whether calls are looked for
   * @param promptEnd the last characters of the prompt, in which a template may have opened the
   *     model's reasoning
   */
  AnswerParser parser(boolean tools, String promptEnd);

  /**
   * What an answer must keep to; empty: it may be anything. Where the model is free to call tools
   * and none of them is strict, it is not held to their schemas.
   *
   * @param promptEnd as for {@link #parser}
   * @throws InvalidGrammar the parameters of a tool cannot be kept to, or a name in the choice is
   *     no tool's
   */
  Optional<Grammar> grammar(AnswerRules rules, String promptEnd);

  /** Whether the template tells the model of tools, and is to be given them. */
  boolean tellsTools();

  /**
   * A conversation as the template is to see it: told of the tools in its first system message
   * where the template does not do that, with results in the order of their calls, and with both as
   * text where the template knows none.
   */
  List<ChatMessage> messages(List<ChatMessage> messages, List<Tool> tools, ToolChoice choice);
}
