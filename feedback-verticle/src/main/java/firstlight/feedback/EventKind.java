package firstlight.feedback;

import com.google.protobuf.Message;
import firstlight.protocol.wire.AdmissionRefusal;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.ToolCall;

/** What an Event is about. Each kind has its own schema and its own folder. */
enum EventKind {
  RESPONSE("response", ResponseFinished.getDefaultInstance()),
  FEEDBACK("feedback", Feedback.getDefaultInstance()),
  TOOL_CALL("tool_call", ToolCall.getDefaultInstance()),
  ERROR("error", Failure.getDefaultInstance()),
  REFUSAL("refusal", AdmissionRefusal.getDefaultInstance());

  private final String word;
  private final Message prototype;

  EventKind(String word, Message prototype) {
    this.word = word;
    this.prototype = prototype;
  }

  String word() {
    return word;
  }

  /** An empty body, for its descriptor. */
  Message prototype() {
    return prototype;
  }

  Message body(Event event) {
    return switch (this) {
      case RESPONSE -> event.getResponse();
      case FEEDBACK -> event.getFeedback();
      case TOOL_CALL -> event.getToolCall();
      case ERROR -> event.getError();
      case REFUSAL -> event.getRefusal();
    };
  }
}
