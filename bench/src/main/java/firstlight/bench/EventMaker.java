package firstlight.bench;

import firstlight.protocol.wire.AdmissionRefusal;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.InputMessage;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.ToolCall;
import java.util.SplittableRandom;

/** Makes Events as they come in production: each is another, and compresses as text does. */
final class EventMaker {
  private static final int VOCABULARY = 49_152;
  private static final int TOKEN_MICROS = 9_000;
  private static final String[] SYLLABLES = "ba de gi lo mu na pe ri so tu ve xy".split(" ");
  private static final int MODELS = 3;
  private static final int TENANTS = 20;

  private final SplittableRandom random;
  private final long epochMillis;
  private long number;

  /**
   * @param epochMillis when all of them happened, about
   */
  EventMaker(long seed, long epochMillis) {
    random = new SplittableRandom(seed);
    this.epochMillis = epochMillis;
  }

  /** A finished Response with its texts, about as many words as tokens. */
  Event response(int tokens, int promptWords) {
    Generation.Builder generation = Generation.newBuilder().setFinishReason("END");
    for (int i = 0; i < tokens; i++) {
      generation
          .addTokenIds(often(VOCABULARY))
          .addTokenMicros(TOKEN_MICROS / 2 + random.nextInt(TOKEN_MICROS));
    }
    generation.setOutputTokens(tokens).setPromptTokens(promptWords).setReplica("replica-1");
    ResponseFinished.Builder response =
        ResponseFinished.newBuilder()
            .setResponseId("resp_" + id())
            .setDialect("chat.completions")
            .setModel("model-" + random.nextInt(MODELS))
            .setModelDigest("0".repeat(64))
            .setReplica("replica-1")
            .setStatus("completed")
            .addFinishReasons("END")
            .setOutput(words(tokens))
            .setPromptTokens(promptWords)
            .setCachedTokens(promptWords / 2)
            .setOutputTokens(tokens)
            .setFirstTokenMs(random.nextInt(20, 400))
            .setTotalMs(tokens * 9 + random.nextInt(400))
            .setStreamed(true)
            .setTextPolicy("full")
            .setRoute("named")
            .setRouteReason("the request names the model")
            .addInputMessages(InputMessage.newBuilder().setRole("user").setText(words(promptWords)))
            .addGenerations(generation);
    return event().setResponse(response).build();
  }

  /** One of all kinds: 80 of 100 are Responses of about 40 tokens, 10 are feedback. */
  Event any() {
    int which = random.nextInt(100);
    if (which < 80) {
      return response(random.nextInt(20, 61), random.nextInt(10, 31));
    }
    Event.Builder event = event();
    if (which < 90) {
      event.setFeedback(feedback());
    } else if (which < 95) {
      event.setToolCall(toolCall());
    } else if (which < 98) {
      event.setError(failure());
    } else {
      event.setRefusal(refusal());
    }
    return event.build();
  }

  private Feedback.Builder feedback() {
    return Feedback.newBuilder()
        .setFeedbackId("fb_" + id())
        .setResponseId("resp_" + id())
        .setName("helpfulness")
        .setDataType("numeric")
        .setNumber(random.nextInt(11) / 10.0)
        .setComment(words(random.nextInt(12)))
        .setSource("user");
  }

  private ToolCall.Builder toolCall() {
    return ToolCall.newBuilder()
        .setResponseId("resp_" + id())
        .setCallId("call_" + id())
        .setName("search")
        .setArguments("{\"query\":\"" + words(5) + "\"}")
        .setArgumentsValid(true)
        .setModel("model-0")
        .setTextPolicy("full");
  }

  private Failure.Builder failure() {
    return Failure.newBuilder()
        .setRequestId("req_" + id())
        .setDialect("responses")
        .setModel("model-0")
        .setDomain("gpu")
        .setKind("unavailable")
        .setCode("device_lost")
        .setMessage("A device was lost. Try again.")
        .setHttpStatus(503)
        .setRetryAfterMs(1_000);
  }

  private AdmissionRefusal.Builder refusal() {
    return AdmissionRefusal.newBuilder()
        .setRequestId("req_" + id())
        .setDialect("responses")
        .setModel("model-0")
        .setDomain("batcher")
        .setCode("first_token_late")
        .setPromptTokens(random.nextInt(1, 4_000))
        .setRetryAfterMs(random.nextInt(10_000))
        .setHttpStatus(429);
  }

  private Event.Builder event() {
    number++;
    return Event.newBuilder()
        .setId("%016x%016x".formatted(random.nextLong(), number))
        .setSchema(2)
        .setTime(epochMillis + number % 1_000)
        .setTenant("tenant-" + often(TENANTS))
        .setNode("node-1")
        .setSession("resp_" + id());
  }

  private String id() {
    return Long.toString(random.nextLong() >>> 1, Character.MAX_RADIX);
  }

  /** Small numbers come much more often than large ones, as words do. */
  private int often(int bound) {
    double share = random.nextDouble();
    return (int) (share * share * share * bound);
  }

  private String words(int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      int word = often(VOCABULARY);
      text.append(i == 0 ? "" : " ");
      do {
        text.append(SYLLABLES[word % SYLLABLES.length]);
        word /= SYLLABLES.length;
      } while (word > 0);
    }
    return text.toString();
  }
}
