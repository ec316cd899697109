package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.protocol.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** One choice of a chat: its text, calls and reasoning, as deltas of a stream or as one message. */
final class ChatAnswer {
  private final AnswerParser parser;
  private final IntFunction<String> ids;
  private int calls;

  /**
   * @param ids gives the id of each of its calls, counted from 0
   */
  ChatAnswer(AnswerParser parser, IntFunction<String> ids) {
    this.parser = parser;
    this.ids = ids;
  }

  /** What more text of the answer adds to the message. */
  List<ObjectNode> deltas(String text) {
    return parser.next(text).stream().map(this::delta).toList();
  }

  /** What was held back until the end. */
  List<ObjectNode> lastDeltas() {
    return parser.end().stream().map(this::delta).toList();
  }

  /** The message as the sum of the deltas of its whole text. */
  ObjectNode message(String text) {
    StringBuilder content = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<ObjectNode> called = new ArrayList<>();
    List<StringBuilder> arguments = new ArrayList<>();
    List<AnswerPart> parts = new ArrayList<>(parser.next(text));
    parts.addAll(parser.end());
    for (AnswerPart part : parts) {
      switch (part) {
        case AnswerPart.Text(String more) -> content.append(more);
        case AnswerPart.Reasoning(String more) -> reasoning.append(more);
        case AnswerPart.Call(String name) -> {
          called.add(call(name));
          arguments.add(new StringBuilder());
        }
        case AnswerPart.Arguments(String more) -> arguments.getLast().append(more);
      }
    }
    boolean callsOnly = content.isEmpty() && !called.isEmpty();
    ObjectNode message =
        Json.object()
            .put("role", "assistant")
            .put("content", callsOnly ? null : content.toString())
            .putNull("refusal");
    if (!reasoning.isEmpty()) {
      message.put("reasoning_content", reasoning.toString());
    }
    if (!called.isEmpty()) {
      ArrayNode list = message.putArray("tool_calls");
      for (int i = 0; i < called.size(); i++) {
        ((ObjectNode) called.get(i).get("function")).put("arguments", arguments.get(i).toString());
        list.add(called.get(i));
      }
    }
    return message;
  }

  /** OpenAI's word; an answer that was cut off may lack calls, so it is never tool_calls. */
  String reason(FinishReason reason) {
    String word = CompletionWriter.reason(reason);
    return calls > 0 && !word.equals("length") ? "tool_calls" : word;
  }

  private ObjectNode delta(AnswerPart part) {
    return switch (part) {
      case AnswerPart.Text(String text) -> Json.object().put("content", text);
      case AnswerPart.Reasoning(String text) -> Json.object().put("reasoning_content", text);
      case AnswerPart.Call(String name) -> calls(Json.object().put("index", calls), call(name));
      case AnswerPart.Arguments(String json) -> {
        ObjectNode more = Json.object().put("index", calls - 1);
        more.putObject("function").put("arguments", json);
        yield calls(more, Json.object());
      }
    };
  }

  private static ObjectNode calls(ObjectNode head, ObjectNode rest) {
    ObjectNode delta = Json.object();
    head.setAll(rest);
    delta.putArray("tool_calls").add(head);
    return delta;
  }

  private ObjectNode call(String name) {
    String id = ids.apply(calls++);
    ObjectNode call = Json.object().put("id", id).put("type", "function");
    call.putObject("function").put("name", name).put("arguments", "");
    return call;
  }
}
