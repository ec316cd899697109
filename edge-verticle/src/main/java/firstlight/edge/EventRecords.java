package firstlight.edge;

import com.google.protobuf.ByteString;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.InputMessage;
import firstlight.protocol.wire.ResponseFinished;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
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
    cutTexts(response.setShortened(Cut.TEXT.word()), over);
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

  /** The input first, its oldest messages first of all. */
  private static void cutTexts(ResponseFinished.Builder response, int over) {
    int left = over;
    for (InputMessage.Builder message : response.getInputMessagesBuilderList()) {
      ByteString text = message.getTextBytes();
      message.setTextBytes(cut(text, text.size() - left));
      left -= text.size() - message.getTextBytes().size();
      if (left > 0) {
        int before = message.build().getSerializedSize();
        left -= before - message.clearCalls().build().getSerializedSize();
      }
      if (left <= 0) {
        return;
      }
    }
    ByteString output = response.getOutputBytes();
    response.setOutputBytes(cut(output, output.size() - left));
    left -= output.size() - response.getOutputBytes().size();
    for (Generation.Builder generation : response.getGenerationsBuilderList()) {
      ByteString text = generation.getOutputBytes();
      generation.setOutputBytes(cut(text, text.size() - left));
      left -= text.size() - generation.getOutputBytes().size();
    }
  }

  /** The Response without what is there token by token. */
  static ResponseFinished.Builder withoutDetail(ResponseFinished response) {
    ResponseFinished.Builder plain = response.toBuilder();
    plain
        .getGenerationsBuilderList()
        .forEach(one -> one.clearTokenIds().clearTokenLogprobs().clearTokenMicros());
    return plain;
  }

  /** The session, so that what belongs together is in one partition, in order. */
  static byte[] key(Event event) {
    return event.getSession().getBytes(StandardCharsets.UTF_8);
  }

  /** For metrics: response, feedback, tool_call, error, refusal. */
  static String kind(Event event) {
    return kind(event.getBodyCase());
  }

  private static String kind(Event.BodyCase body) {
    return body.name().toLowerCase(Locale.ROOT);
  }

  static List<String> kinds() {
    return Arrays.stream(Event.BodyCase.values())
        .filter(body -> body != Event.BodyCase.BODY_NOT_SET)
        .map(EventRecords::kind)
        .toList();
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
