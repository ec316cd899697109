package firstlight.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One message of a conversation, as a chat template sees it.
 *
 * @param role who speaks: system, developer, user, assistant, tool, or what the template knows
 * @param content the text; several text parts are already joined; empty where there is none
 * @param toolCalls the calls an assistant made: {@code {id, type: "function", function: {name,
 *     arguments}}} with arguments as a map where they are valid JSON; empty for none
 * @param toolCallId the call that a tool message answers
 * @param name the speaker's name, where given
 */
public record ChatMessage(
    String role,
    String content,
    List<Map<String, Object>> toolCalls,
    @Nullable String toolCallId,
    @Nullable String name) {

  public ChatMessage {
    toolCalls = List.copyOf(toolCalls);
  }

  /** A message of plain text. */
  public ChatMessage(String role, String content) {
    this(role, content, List.of(), null, null);
  }
}
