package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.lake.ChatMessages.LeftOut;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatMessagesTest {
  private static final String MESSAGES =
      DuckColumns.type(LakeSchema.of(LakeKind.RESPONSE).findType("input_messages"));
  private static final String CALLS =
      DuckColumns.type(LakeSchema.of(LakeKind.RESPONSE).findType("input_messages.element.calls"));

  private final ChatMessages chat = new ChatMessages(new ObjectMapper());
  private Connection duck;

  @BeforeEach
  void open() throws SQLException {
    duck = DriverManager.getConnection("jdbc:duckdb:");
  }

  @AfterEach
  void close() throws SQLException {
    duck.close();
  }

  private Array value(String sql, String type) throws SQLException {
    ResultSet row = duck.createStatement().executeQuery("select %s::%s".formatted(sql, type));
    row.next();
    return row.getArray(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'text': 'Once'} | {\"role\":\"user\",\"content\":\"Once\"}",
        "{'role': 'user', 'text': 'q', 'name': 'Ann'}"
            + " | {\"role\":\"user\",\"content\":\"q\",\"name\":\"Ann\"}",
        "{'role': 'assistant', 'text': NULL, 'calls': [{'id': '1', 'name': 'f', 'arguments':"
            + " '{\"x\":1}'}, {'id': '2', 'name': 'g', 'arguments': NULL}]} |"
            + " {\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"type\":"
            + "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}},"
            + "{\"id\":\"2\",\"type\":\"function\","
            + "\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]}",
        "{'role': 'tool', 'text': '4', 'calls': [], 'call_id': '1'}"
            + " | {\"role\":\"tool\",\"content\":\"4\",\"tool_call_id\":\"1\"}",
      })
  void what_was_asked_becomes_a_message(String message, String expected) throws Exception {
    chat.ask(value("[%s]".formatted(message), MESSAGES));
    assertThat(chat.all()).hasToString("[" + expected + "]");
  }

  @Test
  void the_newest_instructions_stand_in_front_and_no_others() throws Exception {
    for (int i = 1; i <= 2; i++) {
      chat.ask(
          value(
              "[{'role': 'system', 'text': 's%1$d'}, {'role': 'user', 'text': 'u%1$d'}]"
                  .formatted(i),
              MESSAGES));
    }
    chat.ask(value("[{'role': 'user', 'text': 'u3'}, {'role': 'system', 'text': 's3'}]", MESSAGES));
    assertThat(chat.all())
        .extracting(message -> message.get("content").textValue())
        .containsExactly("s2", "u1", "u2", "u3", "s3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "plain|[]|plain|0",
        "<tool_call>{}</tool_call>|[{'id': '1', 'name': 'f', 'arguments': '{}'}]||1",
        "I look. <tool_call>{}</tool_call> <tool_call>{}</tool_call> |[{'id': '1', 'name': 'f',"
            + " 'arguments': '{}'}, {'id': '2', 'name': 'f', 'arguments': '{}'}]|I look.|2",
      })
  void calls_of_an_answer_are_those_of_their_table(
      String output, String calls, String content, int count) throws Exception {
    var message = chat.answer(output, value(calls, CALLS));
    assertThat(message.get("content").textValue()).isEqualTo(content == null ? "" : content);
    assertThat(message.path("tool_calls")).hasSize(count);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "[TOOL_CALLS]f[ARGS]{} | [{'id': '1', 'name': 'f', 'arguments': '{}'}]",
        "<tool_call>{}</tool_call> | []",
        "<tool_call>{}</tool_call> | [{'id': '1', 'name': 'f', 'arguments': NULL}]",
        "<tool_call>{} | [{'id': '1', 'name': 'f', 'arguments': '{}'}]",
        "<tool_call>{}</tool_call> There. | [{'id': '1', 'name': 'f', 'arguments': '{}'}]",
        "<tool_call>[{},{}]</tool_call> | [{'id': '1', 'name': 'f', 'arguments': '{}'},"
            + " {'id': '2', 'name': 'f', 'arguments': '{}'}]",
      })
  void an_answer_whose_calls_can_not_be_told_from_its_text_is_left_out(String output, String calls)
      throws Exception {
    Array called = value(calls, CALLS);
    assertThatThrownBy(() -> chat.answer(output, called))
        .isInstanceOf(LeftOut.class)
        .hasMessage("calls not told apart");
  }
}
