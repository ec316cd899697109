package firstlight.edge;

import com.google.protobuf.InvalidProtocolBufferException;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.ResponseFinished;

/**
 * An Event in three pieces, each an Event on the wire; an empty piece was not there.
 *
 * @param fact all but the other two
 * @param text input, output and arguments
 * @param trace token ids, log-probabilities and times
 */
record EventParts(byte[] fact, byte[] text, byte[] trace) {
  private static final byte[] NOTHING = {};

  static EventParts of(Event event) {
    return switch (event.getBodyCase()) {
      case RESPONSE -> ofResponse(event);
      case TOOL_CALL -> ofToolCall(event);
      case FEEDBACK, ERROR, REFUSAL, BODY_NOT_SET ->
          new EventParts(event.toByteArray(), NOTHING, NOTHING);
    };
  }

  int bytes() {
    return fact.length + text.length + trace.length;
  }

  boolean hasText() {
    return text.length > 0;
  }

  boolean hasTrace() {
    return trace.length > 0;
  }

  EventParts withoutText() {
    return new EventParts(fact, NOTHING, trace);
  }

  EventParts withoutTrace() {
    return new EventParts(fact, text, NOTHING);
  }

  /**
   * The Event again, as far as its pieces are there.
   *
   * @param textGone it had texts, which are not there any more
   * @param traceGone likewise
   */
  Event join(boolean textGone, boolean traceGone) throws InvalidProtocolBufferException {
    Event.Builder event = Event.newBuilder().mergeFrom(fact);
    if (hasText()) {
      event.mergeFrom(text);
    }
    if (hasTrace()) {
      addTrace(event.getResponseBuilder(), Event.parseFrom(trace).getResponse());
    }
    if (event.hasResponse() && textGone) {
      event.getResponseBuilder().setShortened(EventRecords.Cut.TEXT.word());
    } else if (event.hasResponse() && traceGone && event.getResponse().getShortened().isEmpty()) {
      event.getResponseBuilder().setShortened(EventRecords.Cut.DETAIL.word());
    }
    return event.build();
  }

  private static void addTrace(ResponseFinished.Builder to, ResponseFinished trace) {
    for (int i = 0; i < trace.getGenerationsCount(); i++) {
      Generation one = trace.getGenerations(i);
      to.getGenerationsBuilder(i)
          .addAllTokenIds(one.getTokenIdsList())
          .addAllTokenLogprobs(one.getTokenLogprobsList())
          .addAllTokenMicros(one.getTokenMicrosList());
    }
  }

  private static EventParts ofResponse(Event event) {
    ResponseFinished response = event.getResponse();
    boolean hasText = !response.getInputBytes().isEmpty() || !response.getOutputBytes().isEmpty();
    boolean hasTrace = response.getGenerationsList().stream().anyMatch(EventParts::hasTokens);
    ResponseFinished.Builder fact = EventRecords.withoutDetail(response).clearInput().clearOutput();
    return new EventParts(
        event.toBuilder().setResponse(fact).build().toByteArray(),
        hasText ? piece(textOf(response)) : NOTHING,
        hasTrace ? piece(traceOf(response)) : NOTHING);
  }

  private static boolean hasTokens(Generation one) {
    return one.getTokenIdsCount() + one.getTokenLogprobsCount() + one.getTokenMicrosCount() > 0;
  }

  private static byte[] piece(ResponseFinished.Builder response) {
    return Event.newBuilder().setResponse(response).build().toByteArray();
  }

  private static ResponseFinished.Builder textOf(ResponseFinished response) {
    return ResponseFinished.newBuilder()
        .setInputBytes(response.getInputBytes())
        .setOutputBytes(response.getOutputBytes());
  }

  private static ResponseFinished.Builder traceOf(ResponseFinished response) {
    ResponseFinished.Builder trace = ResponseFinished.newBuilder();
    for (Generation one : response.getGenerationsList()) {
      trace
          .addGenerationsBuilder()
          .addAllTokenIds(one.getTokenIdsList())
          .addAllTokenLogprobs(one.getTokenLogprobsList())
          .addAllTokenMicros(one.getTokenMicrosList());
    }
    return trace;
  }

  private static EventParts ofToolCall(Event event) {
    if (event.getToolCall().getArgumentsBytes().isEmpty()) {
      return new EventParts(event.toByteArray(), NOTHING, NOTHING);
    }
    Event.Builder fact = event.toBuilder();
    fact.getToolCallBuilder().clearArguments();
    Event.Builder text = Event.newBuilder();
    text.getToolCallBuilder().setArgumentsBytes(event.getToolCall().getArgumentsBytes());
    return new EventParts(fact.build().toByteArray(), text.build().toByteArray(), NOTHING);
  }
}
