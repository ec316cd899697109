package firstlight.edge;

import firstlight.model.ChatMessage;
import java.util.List;
import java.util.Map;

/** What a model is to go on from. Rendering and tokenizing it is left to {@link Turns}. */
sealed interface TurnPrompt {

  /**
   * A conversation, rendered by the model's chat template with an open assistant's turn at its end.
   *
   * @param tools tool definitions in the shape of chat completions; empty for none
   * @param extra further values for the template (chat_template_kwargs); empty for none
   */
  record Conversation(
      List<ChatMessage> messages, List<Map<String, Object>> tools, Map<String, Object> extra)
      implements TurnPrompt {
    public Conversation {
      messages = List.copyOf(messages);
      tools = List.copyOf(tools);
      extra = Map.copyOf(extra);
    }
  }

  /** A raw prompt: control tokens may stand in it as text. */
  record Text(String text) implements TurnPrompt {}

  /** Token ids, taken as they are; ids outside the vocabulary are refused by {@link Turns}. */
  record Tokens(int[] ids) implements TurnPrompt {}
}
