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
    TEXT
  }

  record Fitted(Event event, Cut cut) {}

  private EventRecords() {}

  /**
   * Makes an Event fit: first without debug detail, then with its texts cut, the input first. Its
   * numbers always stay.
   */
  static Fitted fit(Event event, int bytesMax) {
    if (event.getSerializedSize() <= bytesMax || !event.hasResponse()) {
      return new Fitted(event, Cut.NOTHING);
    }
    ResponseFinished.Builder response = withoutDetail(event.getResponse());
    Event plain = event.toBuilder().setResponse(response).build();
    int over = plain.getSerializedSize() - bytesMax;
    if (over <= 0) {
      return new Fitted(plain, Cut.DETAIL);
    }
    ByteString input = response.getInputBytes();
    ByteString shortInput = cut(input, input.size() - over);
    over -= input.size() - shortInput.size();
    ByteString output = response.getOutputBytes();
    response.setInputBytes(shortInput).setOutputBytes(cut(output, output.size() - over));
    return new Fitted(event.toBuilder().setResponse(response).build(), Cut.TEXT);
  }

  /** The Response without what is there token by token. */
  static ResponseFinished.Builder withoutDetail(ResponseFinished response) {
    ResponseFinished.Builder plain = response.toBuilder();
    plain
        .getGenerationsBuilderList()
        .forEach(one -> one.clearTokenIds().clearTokenLogprobs().clearTokenMicros());
    return plain;
  }

  /** The Response's id, so that what belongs together is in one partition, in order. */
  static byte[] key(Event event) {
    Feedback feedback = event.getFeedback();
    String key =
        event.hasResponse()
            ? event.getResponse().getResponseId()
            : first(feedback.getResponseId(), feedback.getConversationId(), feedback.getItemId());
    return key.getBytes(StandardCharsets.UTF_8);
  }

  /** For metrics: response, feedback. */
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
