package firstlight.edge;

import com.google.protobuf.ByteString;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.ResponseFinished;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** How Events lie on Kafka. */
final class EventRecords {
  /** What had to go so that an Event fits. */
  enum Cut {
    NOTHING,
    DETAIL,
    TEXT;

    /** For metrics, and as an Event says it. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  record Fitted(Event event, Cut cut) {}

  private EventRecords() {}

  /**
   * Makes an Event fit: first without debug detail, then with its texts cut, the input first. Its
   * numbers always stay.
   */
  static Fitted fit(Event event, int bytesMax) {
    if (event.getSerializedSize() <= bytesMax) {
      return new Fitted(event, Cut.NOTHING);
    }
    if (event.hasToolCall()) {
      return fitToolCall(event, bytesMax);
    }
    if (!event.hasResponse()) {
      return new Fitted(event, Cut.NOTHING);
    }
    ResponseFinished.Builder response =
        withoutDetail(event.getResponse()).setShortened(Cut.DETAIL.word());
    Event plain = event.toBuilder().setResponse(response).build();
    int over = plain.getSerializedSize() - bytesMax;
    if (over <= 0) {
      return new Fitted(plain, Cut.DETAIL);
    }
    ByteString input = response.getInputBytes();
    ByteString shortInput = cut(input, input.size() - over);
    over -= input.size() - shortInput.size();
    ByteString output = response.getOutputBytes();
    response.setShortened(Cut.TEXT.word());
    response.setInputBytes(shortInput).setOutputBytes(cut(output, output.size() - over));
    return new Fitted(event.toBuilder().setResponse(response).build(), Cut.TEXT);
  }

  private static Fitted fitToolCall(Event event, int bytesMax) {
    ByteString arguments = event.getToolCall().getArgumentsBytes();
    int over = event.getSerializedSize() - bytesMax;
    Event.Builder cut = event.toBuilder();
    cut.getToolCallBuilder()
        .setArgumentsBytes(cut(arguments, arguments.size() - over))
        .setArgumentsValid(false);
    return new Fitted(cut.build(), Cut.TEXT);
  }

  /** The Response without what is there token by token. */
  static ResponseFinished.Builder withoutDetail(ResponseFinished response) {
    ResponseFinished.Builder plain = response.toBuilder();
    plain
        .getGenerationsBuilderList()
        .forEach(one -> one.clearTokenIds().clearTokenLogprobs().clearTokenMicros());
    return plain;
  }

  /** The session, else what it is about: so what belongs together is in one partition, in order. */
  static byte[] key(Event event) {
    return first(event.getSession(), subject(event)).getBytes(StandardCharsets.UTF_8);
  }

  private static String subject(Event event) {
    return switch (event.getBodyCase()) {
      case RESPONSE -> event.getResponse().getResponseId();
      case FEEDBACK -> subject(event.getFeedback());
      case TOOL_CALL -> event.getToolCall().getResponseId();
      case ERROR -> first(event.getError().getResponseId(), event.getError().getRequestId());
      case REFUSAL -> first(event.getRefusal().getResponseId(), event.getRefusal().getRequestId());
      case BODY_NOT_SET -> event.getId();
    };
  }

  private static String subject(Feedback feedback) {
    return first(feedback.getResponseId(), feedback.getConversationId(), feedback.getItemId());
  }

  /** For metrics: response, feedback, tool_call, error, refusal. */
  static String kind(Event event) {
    return event.getBodyCase().name().toLowerCase(Locale.ROOT);
  }

  private static String first(String... texts) {
    for (String text : texts) {
      if (!text.isEmpty()) {
        return text;
      }
    }
    return "";
  }

  /** The text's first bytes, without half a character. */
  private static ByteString cut(ByteString text, int bytes) {
    int end = Math.clamp(bytes, 0, text.size());
    while (end > 0 && end < text.size() && (text.byteAt(end) & 0xC0) == 0x80) {
      end--;
    }
    return text.substring(0, end);
  }
}
