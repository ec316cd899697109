package firstlight.edge;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.InputMessage;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.ToolCall;
import java.util.stream.IntStream;

/** Events for tests, each with a number as its id. */
final class SampleEvents {
  private SampleEvents() {}

  /** A finished Response with texts and so many tokens in two generations. */
  static Event response(int id, int tokens) {
    ResponseFinished.Builder response =
        ResponseFinished.newBuilder()
            .setResponseId("resp_" + id)
            .setOutputTokens(tokens)
            .addGenerations(generation(0, tokens));
    if (tokens > 0) {
      response
          .addInputMessages(InputMessage.newBuilder().setText("in " + id))
          .setOutput("out " + id)
          .addGenerations(generation(1, 3));
    }
    return event(id).setResponse(response).build();
  }

  static Event feedback(int id) {
    return event(id)
        .setFeedback(Feedback.newBuilder().setFeedbackId("fb_" + id).setResponseId("resp_" + id))
        .build();
  }

  static Event toolCall(int id, String arguments) {
    return event(id)
        .setToolCall(ToolCall.newBuilder().setResponseId("resp_" + id).setArguments(arguments))
        .build();
  }

  static Event failure(int id) {
    return event(id).setError(Failure.newBuilder().setRequestId("req_" + id)).build();
  }

  private static Event.Builder event(int id) {
    return Event.newBuilder()
        .setId(Integer.toString(id))
        .setSchema(2)
        .setTime(1_000L + id)
        .setSession("resp_" + id);
  }

  private static Generation generation(int index, int tokens) {
    Generation.Builder generation = Generation.newBuilder().setIndex(index).setOutputTokens(tokens);
    IntStream.range(0, tokens)
        .forEach(i -> generation.addTokenIds(i).addTokenLogprobs(-1).addTokenMicros(10));
    return generation.build();
  }
}
