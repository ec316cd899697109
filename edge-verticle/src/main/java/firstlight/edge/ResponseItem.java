package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ResponseId;

/**
 * One Item of an answer while it comes in: says in events how it grows, from {@code
 * output_item.added} to {@code output_item.done}. Its id follows from the Response's and its place.
 */
abstract sealed class ResponseItem {
  final StringBuilder text = new StringBuilder();
  private final ResponseCuts cuts = new ResponseCuts();
  private final ResponseEvents events;
  private final String id;
  private final int index;

  /** Where an Item stands: at which index of the output of which Response. */
  record Place(ResponseEvents events, ResponseId response, int index) {
    private String id(String prefix) {
      return ResponseResource.itemId(prefix, response, "_o" + index);
    }
  }

  private ResponseItem(Place place, String prefix) {
    this.events = place.events();
    this.index = place.index();
    this.id = place.id(prefix);
  }

  /** The Item begins. */
  abstract void begin();

  /** More of its text. */
  final void add(ResponseCuts.Piece piece) {
    text.append(piece.text());
    cuts.add(piece.text().length(), piece.logprobs().size());
    tell(piece);
  }

  /** As {@link #add(ResponseCuts.Piece)}, without log-probabilities. */
  final void add(String delta) {
    add(new ResponseCuts.Piece(delta, Json.array()));
  }

  /** Where its text was cut. */
  final String cuts() {
    return cuts.toString();
  }

  abstract void tell(ResponseCuts.Piece piece);

  /** The events of its end but the last. */
  abstract void conclude();

  /** The Item as it is now. */
  abstract ObjectNode state(String status);

  /**
   * The Item ends.
   *
   * @return as it stays
   */
  final ObjectNode end(String status) {
    conclude();
    ObjectNode item = state(status);
    tell("response.output_item.done", item);
    return item;
  }

  final void tell(String type, ObjectNode item) {
    events.add(type).put("output_index", index).set("item", item);
  }

  /** An event of something inside of it. */
  final ObjectNode inside(String type) {
    return events.add(type).put("item_id", id).put("output_index", index);
  }

  final ObjectNode fields(String type, String status) {
    return Json.object().put("type", type).put("id", id).put("status", status);
  }

  /** A call of a tool; its text is the arguments. */
  static final class Call extends ResponseItem {
    private static final String ARGUMENTS = "response.function_call_arguments.";

    private final String callId;
    private final String name;

    Call(Place place, String name) {
      super(place, "fc_");
      this.callId = place.id("call_");
      this.name = name;
    }

    @Override
    void begin() {
      tell("response.output_item.added", state("in_progress"));
    }

    @Override
    void tell(ResponseCuts.Piece piece) {
      inside(ARGUMENTS + "delta").put("delta", piece.text());
    }

    @Override
    void conclude() {
      // The name is not the specification's, but a client's type asks for it.
      inside(ARGUMENTS + "done").put("name", name).put("arguments", text.toString());
    }

    @Override
    ObjectNode state(String status) {
      return fields("function_call", status)
          .put("call_id", callId)
          .put("name", name)
          .put("arguments", text.toString());
    }
  }

  /** An Item whose text stands in its one content part. */
  abstract static sealed class Parted extends ResponseItem {
    private final String type;
    private final String event;

    /**
     * @param type of the Item
     * @param event how the names of the events of its text begin
     */
    private Parted(Place place, String prefix, String type, String event) {
      super(place, prefix);
      this.type = type;
      this.event = event;
    }

    abstract ObjectNode part();

    /** The Item without its content. */
    abstract ObjectNode bare(ObjectNode fields);

    @Override
    void begin() {
      ObjectNode item = bare(fields(type, "in_progress"));
      item.putArray("content");
      tell("response.output_item.added", item);
      inPart("response.content_part.added").set("part", part());
    }

    @Override
    void conclude() {
      done();
      inPart("response.content_part.done").set("part", part());
    }

    @Override
    ObjectNode state(String status) {
      ObjectNode item = bare(fields(type, status));
      item.putArray("content").add(part());
      return item;
    }

    @Override
    void tell(ResponseCuts.Piece piece) {
      delta(piece);
    }

    final ObjectNode delta(ResponseCuts.Piece piece) {
      return inPart(event + ".delta").put("delta", piece.text());
    }

    ObjectNode done() {
      return inPart(event + ".done").put("text", text.toString());
    }

    private ObjectNode inPart(String type) {
      return inside(type).put("content_index", 0);
    }
  }

  /** Text for the reader. */
  static final class Message extends Parted {
    private final ArrayNode logprobs = Json.array();

    Message(Place place) {
      super(place, "msg_", "message", "response.output_text");
    }

    @Override
    void tell(ResponseCuts.Piece piece) {
      delta(piece).set("logprobs", piece.logprobs());
      logprobs.addAll(piece.logprobs());
    }

    @Override
    ObjectNode done() {
      ObjectNode event = super.done();
      event.set("logprobs", logprobs);
      return event;
    }

    @Override
    ObjectNode part() {
      ObjectNode part = Json.object().put("type", "output_text").put("text", text.toString());
      part.putArray("annotations");
      part.putArray("logprobs").addAll(logprobs);
      return part;
    }

    @Override
    ObjectNode bare(ObjectNode fields) {
      return fields.put("role", "assistant");
    }
  }

  /** What the model thought before it answered. */
  static final class Reasoning extends Parted {
    Reasoning(Place place) {
      super(place, "rs_", "reasoning", "response.reasoning");
    }

    @Override
    ObjectNode part() {
      return Json.object().put("type", "reasoning_text").put("text", text.toString());
    }

    @Override
    ObjectNode bare(ObjectNode fields) {
      fields.putArray("summary");
      return fields;
    }
  }
}
