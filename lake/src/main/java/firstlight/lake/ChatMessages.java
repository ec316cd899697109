package firstlight.lake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.sql.Array;
import java.sql.SQLException;
import java.util.Map;
import org.duckdb.DuckDBStruct;
import org.jspecify.annotations.Nullable;

/**
 * Turns of a conversation, put together as the messages that training wants: roles, contents, tool
 * calls and their results. The newest turn's system message stands in front and is the only one
 * there: instructions hold for their own turn.
 */
final class ChatMessages {
  private static final String SYSTEM = "system";
  private static final String CALL_BEGIN = "<tool_call>";
  private static final String CALL_END = "</tool_call>";

  private final ObjectMapper json;
  private final ArrayNode messages;
  private @Nullable ObjectNode system;

  /** A Response can not be told as messages. */
  static final class LeftOut extends Exception {
    private static final long serialVersionUID = 1;

    /**
     * @param reason as the report says it
     */
    LeftOut(String reason) {
      super(reason, null, false, false);
    }
  }

  ChatMessages(ObjectMapper json) {
    this.json = json;
    messages = json.createArrayNode();
  }

  /** All of them, in order. */
  ArrayNode all() {
    ArrayNode all = json.createArrayNode();
    if (system != null) {
      all.add(system);
    }
    return all.addAll(messages);
  }

  void add(ObjectNode message) {
    messages.add(message);
  }

  /**
   * Adds what was asked in one turn.
   *
   * @param input a value of the column {@code input_messages}
   */
  void ask(Array input) throws SQLException {
    boolean first = true;
    for (Object each : (Object[]) input.getArray()) {
      ObjectNode message = message(((DuckDBStruct) each).getMap());
      if (first && message.get("role").textValue().equals(SYSTEM)) {
        system = message;
      } else {
        messages.add(message);
      }
      first = false;
    }
  }

  private ObjectNode message(Map<String, Object> given) throws SQLException {
    // A raw prompt has no role.
    String role = given.get("role") instanceof String known ? known : "user";
    ObjectNode message = said(role, text(given.get("text")));
    if (given.get("name") instanceof String name) {
      message.put("name", name);
    }
    if (given.get("calls") instanceof Array calls) {
      for (Object call : (Object[]) calls.getArray()) {
        call(message, ((DuckDBStruct) call).getMap());
      }
    }
    if (given.get("call_id") instanceof String call) {
      message.put("tool_call_id", call);
    }
    return message;
  }

  private static String text(@Nullable Object value) {
    return value instanceof String text ? text : "";
  }

  private ObjectNode said(String role, String text) {
    return json.createObjectNode().put("role", role).put("content", text);
  }

  private static void call(ObjectNode message, Map<String, Object> given) {
    ObjectNode call = message.withArray("tool_calls").addObject();
    call.put("id", text(given.get("id"))).put("type", "function");
    call.putObject("function")
        .put("name", text(given.get("name")))
        .put("arguments", text(given.get("arguments")));
  }

  /**
   * A model's answer. Its calls are taken from their table; its text is what stands before them.
   *
   * @param output the text as the model wrote it
   * @param calls what the table of tool calls has of it, with null for arguments that are no JSON;
   *     null: nothing
   * @throws LeftOut the text has calls in another notation than that of Hermes, or others than the
   *     table
   */
  ObjectNode answer(String output, @Nullable Array calls) throws SQLException, LeftOut {
    int begin = output.indexOf(CALL_BEGIN);
    Object[] called = calls == null ? new Object[0] : (Object[]) calls.getArray();
    if (begin < 0 && called.length == 0) {
      return said("assistant", output);
    }
    if (begin < 0 || written(output, begin) != called.length) {
      throw new LeftOut("calls not told apart");
    }
    ObjectNode message = said("assistant", output.substring(0, begin).stripTrailing());
    for (Object each : called) {
      Map<String, Object> call = ((DuckDBStruct) each).getMap();
      if (call.get("arguments") == null) {
        throw new LeftOut("calls not told apart");
      }
      call(message, call);
    }
    return message;
  }

  /** How many calls there are from there to the end; -1: other text, too. */
  private static int written(String output, int begin) {
    String rest = output.substring(begin);
    int count = 0;
    while (rest.startsWith(CALL_BEGIN)) {
      int end = rest.indexOf(CALL_END);
      if (end < 0) {
        return -1;
      }
      rest = rest.substring(end + CALL_END.length()).stripLeading();
      count++;
    }
    return rest.isEmpty() ? count : -1;
  }
}
