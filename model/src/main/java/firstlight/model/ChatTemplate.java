package firstlight.model;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A model's chat template: turns a conversation into the prompt the model was trained on. */
public final class ChatTemplate {
  private ChatTemplate() {}

  /**
   * Compiles a template in the Jinja language, as Hugging Face models carry it.
   *
   * @throws TemplateException not a template, or it uses what is not allowed here
   */
  public static ChatTemplate compile(String source, Tokenizer tokenizer) {
    throw new TemplateException("chat templates are not there yet");
  }

  /**
   * The prompt's token ids. Text of messages, tools and extra values never becomes a control token.
   *
   * @param tools tool definitions in the shape of the chat completions interface; empty for none
   * @param extra further values for the template (chat_template_kwargs)
   * @param addGenerationPrompt whether the prompt ends by opening the assistant's turn
   * @param now the date the template may print
   * @throws TemplateException the template refuses the conversation, an extra value has a reserved
   *     name, or a limit is reached
   */
  public int[] prompt(
      List<ChatMessage> messages,
      List<Map<String, Object>> tools,
      Map<String, Object> extra,
      boolean addGenerationPrompt,
      Instant now) {
    throw new TemplateException("chat templates are not there yet");
  }
}
