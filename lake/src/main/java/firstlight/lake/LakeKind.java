package firstlight.lake;

import com.google.protobuf.Message;
import firstlight.protocol.wire.AdmissionRefusal;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.ToolCall;

/** What an Event is about. Each kind has its own table, schema and folder. */
public enum LakeKind {
  RESPONSE("response", "responses", ResponseFinished.getDefaultInstance()),
  FEEDBACK("feedback", "feedback", Feedback.getDefaultInstance()),
  TOOL_CALL("tool_call", "tool_calls", ToolCall.getDefaultInstance()),
  ERROR("error", "errors", Failure.getDefaultInstance()),
  REFUSAL("refusal", "refusals", AdmissionRefusal.getDefaultInstance());

  private final String word;
  private final String table;
  private final Message prototype;

  LakeKind(String word, String table, Message prototype) {
    this.word = word;
    this.table = table;
    this.prototype = prototype;
  }

  /** Its name in folders and metrics. */
  public String word() {
    return word;
  }

  /** Its table's name, without the namespace. */
  public String table() {
    return table;
  }

  /** An empty body, for its descriptor. */
  public Message prototype() {
    return prototype;
  }

  public Message body(Event event) {
    return switch (this) {
      case RESPONSE -> event.getResponse();
      case FEEDBACK -> event.getFeedback();
      case TOOL_CALL -> event.getToolCall();
      case ERROR -> event.getError();
      case REFUSAL -> event.getRefusal();
    };
  }
}
