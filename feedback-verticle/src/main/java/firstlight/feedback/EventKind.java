package firstlight.feedback;

import com.google.protobuf.Message;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.ResponseFinished;

/** What an Event is about. Each kind has its own schema and its own folder. */
enum EventKind {
  RESPONSE("response", ResponseFinished.getDefaultInstance()),
  FEEDBACK("feedback", Feedback.getDefaultInstance());

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
    };
  }
}
