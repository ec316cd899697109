package firstlight.protocol;

import firstlight.protocol.wire.AdmissionRefusal;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.InputCall;
import firstlight.protocol.wire.InputMessage;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.TokenRange;
import firstlight.protocol.wire.ToolCall;
import java.util.List;
import java.util.Locale;

/** Writes {@link Event}s as they lie on Kafka. */
public final class EventWire {
  private EventWire() {}

  public static firstlight.protocol.wire.Event of(Event event) {
    firstlight.protocol.wire.Event.Builder wire =
        firstlight.protocol.wire.Event.newBuilder()
            .setId(event.id())
            .setSchema(Event.SCHEMA)
            .setTime(event.time())
            .setTenant(event.tenant().value())
            .setNode(event.node().value())
            .setSession(event.session());
    switch (event.body()) {
      case FinishedResponse response -> wire.setResponse(of(response));
      case CalledTool call -> wire.setToolCall(of(call));
      case SeenFailure failure -> wire.setError(of(failure));
      case RefusedAdmission refusal -> wire.setRefusal(of(refusal));
      case GivenFeedback feedback -> wire.setFeedback(of(feedback));
    }
    return wire.build();
  }

  private static ResponseFinished of(FinishedResponse response) {
    ResponseFinished.Builder wire =
        ResponseFinished.newBuilder()
            .setResponseId(response.response())
            .setPreviousResponseId(response.previous())
            .setConversationId(response.conversation())
            .setDialect(response.dialect())
            .setModel(response.model().name())
            .setModelDigest(response.model().digest())
            .setTemplateDigest(response.model().templateDigest())
            .setStatus(response.status())
            .setErrorCode(response.errorCode())
            .setPromptTokens(response.usage().prompt())
            .setCachedTokens(response.usage().cached())
            .setOutputTokens(response.usage().output())
            .setReasoningTokens(response.reasoningTokens())
            .setQueuedMs(millis(response.timing().queued()))
            .setFirstTokenMs(millis(response.timing().firstToken()))
            .setTotalMs(millis(response.timing().total()))
            .setStreamed(response.streamed())
            .setStored(response.stored())
            .setRoute(response.route())
            .setRouteReason(response.routeReason());
    text(response.text(), wire);
    List<String> outputs = response.text().outputs();
    for (TracedGeneration generation : response.generations()) {
      int index = generation.index();
      String further = index == 0 || index >= outputs.size() ? "" : outputs.get(index);
      wire.addGenerations(of(generation).setOutput(further));
      if (!generation.finish().isEmpty()) {
        wire.addFinishReasons(generation.finish());
      }
      if (index == 0) {
        wire.setReplica(generation.replica());
      }
    }
    return wire.build();
  }

  private static void text(KeptText text, ResponseFinished.Builder wire) {
    wire.setTextPolicy(text.policy().word())
        .setOutput(text.outputs().isEmpty() ? "" : text.outputs().getFirst())
        .setInputDigest(text.inputDigest())
        .setOutputDigest(text.outputDigest())
        .setRedactions(text.redactions());
    for (KeptText.Message message : text.input()) {
      InputMessage.Builder one =
          InputMessage.newBuilder()
              .setRole(message.role())
              .setText(message.text())
              .setCallId(message.callId())
              .setName(message.name());
      for (KeptText.Call call : message.calls()) {
        one.addCalls(
            InputCall.newBuilder()
                .setId(call.id())
                .setName(call.name())
                .setArguments(call.arguments()));
      }
      wire.addInputMessages(one);
    }
  }

  private static Generation.Builder of(TracedGeneration generation) {
    Generation.Builder wire =
        Generation.newBuilder()
            .setIndex(generation.index())
            .setReplica(generation.replica())
            .setPromptTokens(generation.usage().prompt())
            .setCachedTokens(generation.usage().cached())
            .setOutputTokens(generation.usage().output())
            .setQueuedMs(millis(generation.queuedMillis()))
            .setFirstTokenMs(millis(generation.firstTokenMillis()))
            .setFinishReason(generation.finish())
            .setStop(generation.stop())
            .setSeed(generation.seed());
    for (int id : generation.tokenIds()) {
      wire.addTokenIds(id);
    }
    for (float logprob : generation.logprobs()) {
      wire.addTokenLogprobs(logprob);
    }
    for (int micros : generation.tokenMicros()) {
      wire.addTokenMicros(micros);
    }
    return wire;
  }

  private static ToolCall of(CalledTool call) {
    return ToolCall.newBuilder()
        .setResponseId(call.response())
        .setConversationId(call.conversation())
        .setCallId(call.call())
        .setGeneration(call.generation())
        .setIndex(call.index())
        .setName(call.name())
        .setArguments(call.arguments())
        .setArgumentsDigest(call.argumentsDigest())
        .setArgumentsValid(call.valid())
        .setModel(call.model())
        .setTextPolicy(call.policy().word())
        .build();
  }

  private static Failure of(SeenFailure failure) {
    return Failure.newBuilder()
        .setRequestId(failure.request())
        .setResponseId(failure.response())
        .setDialect(failure.dialect())
        .setModel(failure.model())
        .setReplica(failure.replica())
        .setDomain(failure.domain().word())
        .setKind(failure.kind().name().toLowerCase(Locale.ROOT))
        .setCode(failure.code())
        .setMessage(failure.message())
        .setHttpStatus(failure.httpStatus())
        .setRetryAfterMs(millis(failure.retryAfterMillis()))
        .build();
  }

  private static AdmissionRefusal of(RefusedAdmission refusal) {
    return AdmissionRefusal.newBuilder()
        .setRequestId(refusal.request())
        .setResponseId(refusal.response())
        .setDialect(refusal.dialect())
        .setModel(refusal.model())
        .setDomain(refusal.domain().word())
        .setCode(refusal.code())
        .setPromptTokens(refusal.promptTokens())
        .setOutputMax(refusal.outputMax())
        .setRetryAfterMs(millis(refusal.retryAfterMillis()))
        .setHttpStatus(refusal.httpStatus())
        .build();
  }

  /** A feedback alone, as it is in its Event. */
  public static Feedback of(GivenFeedback feedback) {
    Feedback.Builder wire =
        Feedback.newBuilder()
            .setFeedbackId(feedback.feedback())
            .setResponseId(feedback.response())
            .setConversationId(feedback.conversation())
            .setItemId(feedback.item())
            .setName(feedback.name())
            .setDataType(feedback.dataType())
            .setComment(feedback.comment())
            .setCorrection(feedback.correction())
            .setSource(feedback.source())
            .putAllMetadata(feedback.metadata())
            .setRedactions(feedback.redactions());
    if (feedback.number() != null) {
      wire.setNumber(feedback.number());
    }
    if (feedback.text() != null) {
      wire.setText(feedback.text());
    }
    if (feedback.range() != null) {
      wire.setTokenRange(
          TokenRange.newBuilder()
              .setStart(feedback.range().start())
              .setEnd(feedback.range().end()));
    }
    return wire.build();
  }

  /** As far as 32 bits go: 49 days. */
  private static int millis(long millis) {
    return (int) Math.clamp(millis, 0, 0xFFFF_FFFFL);
  }
}
