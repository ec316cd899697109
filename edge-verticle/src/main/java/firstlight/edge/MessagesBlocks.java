package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The content blocks of one answer as it comes in: as events of a stream, and as one list. Each
 * block begins, grows and ends before the next one begins.
 */
final class MessagesBlocks {
  private final AnswerParser parser;
  private final IntFunction<String> ids;
  private int calls;
  private final Json json;
  private final List<Block> blocks = new ArrayList<>();

  /** An event of a stream; its data names it too. */
  record Event(String name, ObjectNode data) {
    static Event of(String name) {
      return new Event(name, Json.object().put("type", name));
    }
  }

  /** What kind of content a block has, in Anthropic's words: its own, of its deltas, its field. */
  private enum Kind {
    TEXT("text", "text_delta", "text"),
    THINKING("thinking", "thinking_delta", "thinking"),
    TOOL_USE("tool_use", "input_json_delta", "partial_json");

    private final String type;
    private final String deltaType;
    private final String field;

    Kind(String type, String deltaType, String field) {
      this.type = type;
      this.deltaType = deltaType;
      this.field = field;
    }
  }

  private record Block(Kind kind, ObjectNode head, StringBuilder content) {}

  /**
   * @param ids gives the id of each call, counted from 0
   */
  MessagesBlocks(AnswerParser parser, IntFunction<String> ids, Json json) {
    this.parser = parser;
    this.ids = ids;
    this.json = json;
  }

  /** What more text of the answer brings. */
  List<Event> next(String text) {
    return events(parser.next(text));
  }

  /** What was held back until the end, and the end of the last block. */
  List<Event> end() {
    List<Event> events = events(parser.end());
    if (!blocks.isEmpty()) {
      events.add(stopped());
    }
    return events;
  }

  boolean hasCalls() {
    return blocks.stream().anyMatch(block -> block.kind == Kind.TOOL_USE);
  }

  /** All blocks so far. */
  ArrayNode content() {
    ArrayNode content = Json.array();
    for (Block block : blocks) {
      ObjectNode whole = block.head.deepCopy();
      if (block.kind == Kind.TOOL_USE) {
        whole.set("input", input(block.content.toString()));
      } else {
        whole.put(block.kind.field, block.content.toString());
      }
      content.add(whole);
    }
    return content;
  }

  // Arguments that were cut off are no object.
  private ObjectNode input(String arguments) {
    try {
      return json.value(arguments) instanceof ObjectNode object ? object : Json.object();
    } catch (MeshException e) {
      return Json.object();
    }
  }

  private List<Event> events(List<AnswerPart> parts) {
    List<Event> events = new ArrayList<>();
    for (AnswerPart part : parts) {
      switch (part) {
        case AnswerPart.Text(String text) -> grow(Kind.TEXT, text, events);
        case AnswerPart.Reasoning(String text) -> grow(Kind.THINKING, text, events);
        case AnswerPart.Call(String name) -> begin(callHead(name), Kind.TOOL_USE, events);
        case AnswerPart.Arguments(String more) -> grow(Kind.TOOL_USE, more, events);
      }
    }
    return events;
  }

  private void grow(Kind kind, String more, List<Event> events) {
    if (blocks.isEmpty() || blocks.getLast().kind != kind) {
      ObjectNode head = Json.object().put("type", kind.type).put(kind.field, "");
      begin(kind == Kind.THINKING ? head.put("signature", "") : head, kind, events);
    }
    blocks.getLast().content.append(more);
    Event delta = at(blocks.size() - 1, "content_block_delta");
    delta.data.putObject("delta").put("type", kind.deltaType).put(kind.field, more);
    events.add(delta);
  }

  private void begin(ObjectNode head, Kind kind, List<Event> events) {
    if (!blocks.isEmpty()) {
      events.add(stopped());
    }
    blocks.add(new Block(kind, head, new StringBuilder()));
    Event start = at(blocks.size() - 1, "content_block_start");
    start.data.set("content_block", head.deepCopy());
    events.add(start);
  }

  private ObjectNode callHead(String name) {
    ObjectNode head =
        Json.object()
            .put("type", Kind.TOOL_USE.type)
            .put("id", ids.apply(calls++))
            .put("name", name);
    head.putObject("input");
    return head;
  }

  private Event stopped() {
    return at(blocks.size() - 1, "content_block_stop");
  }

  private static Event at(int index, String name) {
    Event event = Event.of(name);
    event.data.put("index", index);
    return event;
  }
}
