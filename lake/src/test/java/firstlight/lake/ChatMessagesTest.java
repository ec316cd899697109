package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import firstlight.lake.ChatMessages.NotMessages;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatMessagesTest {
  private final ChatMessages chat = new ChatMessages();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "completions | \"Say\"                   | [{\"role\":\"user\",\"content\":\"Say\"}]",
        "completions | [\"Say\"]                 | [{\"role\":\"user\",\"content\":\"Say\"}]",
        "chat.completions | plain words          |"
            + " [{\"role\":\"user\",\"content\":\"plain words\"}]",
        "chat.completions |"
            + " [{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}]"
            + " | [{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"ab\"}]",
        "chat.completions |"
            + " [{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\"}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"4\"}]"
            + " | [{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\"}]},"
            + "{\"role\":\"tool\",\"content\":\"4\",\"tool_call_id\":\"1\"}]",
        "messages | [{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]},"
            + "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"h\"},"
            + "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{\"x\":1}}]},"
            + "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"1\","
            + "\"content\":\"4\"}]}] | [{\"role\":\"user\",\"content\":\"q\"},"
            + "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":"
            + "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}]},"
            + "{\"role\":\"tool\",\"content\":\"4\",\"tool_call_id\":\"1\"}]",
        "responses |"
            + " [{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
            + "\"text\":\"q\"}]},{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"function_call\","
            + "\"call_id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"1\",\"output\":\"4\"}]"
            + " | [{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":null,"
            + "\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
            + "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"content\":\"4\",\"tool_call_id\":\"1\"}]",
      })
  void an_input_becomes_messages(String dialect, String input, String expected) throws Exception {
    ArrayNode messages = chat.json().createArrayNode();
    chat.add(messages, dialect, input);
    assertThat(messages).hasToString(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "completions | [1, 2, 3]",
        "completions | [\"one\", \"two\"]",
        "chat.completions | [{\"role\":\"user\",\"content\":\"cut of",
        "chat.completions | [{\"content\":\"nobody\"}]",
        "chat.completions | [{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]",
        "messages | [{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}]",
        "responses | [{\"type\":\"computer_call\"}]",
        "responses | []",
      })
  void what_can_not_be_told_as_messages_is_left_out(String dialect, String input) {
    assertThatThrownBy(() -> chat.add(chat.json().createArrayNode(), dialect, input))
        .isInstanceOf(NotMessages.class);
  }
}
