package firstlight.feedback;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.InputMessage;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.TokenRange;
import java.time.Instant;

/** Events as the edge makes them. */
final class TestEvents {
  static final long NOON = Instant.parse("2026-11-29T12:00:00Z").toEpochMilli();

  private TestEvents() {}

  static Event response(int number) {
    return response(number, NOON + number);
  }

  static Event response(int number, long time) {
    return Event.newBuilder()
        .setId("ev_r" + number)
        .setSchema(1)
        .setTime(time)
        .setTenant("a")
        .setNode("edge-1")
        .setSession("conv_" + number % 10)
        .setResponse(
            ResponseFinished.newBuilder()
                .setResponseId("resp_" + number)
                .setDialect("responses")
                .setModel("smollm2-135m")
                .setStatus("completed")
                .addFinishReasons("STOP")
                .addInputMessages(
                    InputMessage.newBuilder().setRole("user").setText("say " + number))
                .setOutput("number " + number)
                .setPromptTokens(10 + number)
                .setOutputTokens(number)
                .addGenerations(
                    Generation.newBuilder()
                        .addTokenIds(number)
                        .addTokenIds(7)
                        .addTokenLogprobs(-0.5f)
                        .addTokenLogprobs(-0.25f)))
        .build();
  }

  static Event feedback(int number) {
    return Event.newBuilder()
        .setId("ev_f" + number)
        .setSchema(1)
        .setTime(NOON + number)
        .setTenant("a")
        .setNode("edge-1")
        .setFeedback(
            Feedback.newBuilder()
                .setFeedbackId("fb_" + number)
                .setResponseId("resp_" + number)
                .setName("rating")
                .setDataType("numeric")
                .setNumber(number / 10.0)
                .putMetadata("round", "r" + number)
                .setTokenRange(TokenRange.newBuilder().setStart(1).setEnd(number + 2)))
        .build();
  }
}
