package firstlight.edge;

import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.Time;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What happens in a turn, for metrics, and in the end for the Event. */
final class TurnAccount {
  private static final int SCHEMA = 1;

  private final TurnRequest request;
  private final EdgeMetrics metrics;
  private final Time time;
  private final long startNanos;
  private final boolean keepsText;
  private final List<AnswerAccount> answers = new ArrayList<>();
  private long firstTokenNanos;
  private long queuedMillis;
  private boolean hasToken;
  private @Nullable ReplicaId replica;
  private Status status = Status.FAILED;
  private @Nullable MeshException failure;
  private long endNanos;

  /** How a turn ended. */
  enum Status {
    COMPLETED,
    FAILED,
    CANCELLED
  }

  private static final class AnswerAccount {
    private final StringBuilder text = new StringBuilder();
    private final List<Integer> ids = new ArrayList<>();
    private final List<Float> logprobs = new ArrayList<>();
    private boolean hasToken;
    private long lastNanos;
    private @Nullable FinishReason reason;
  }

  /** Begins now. */
  TurnAccount(TurnRequest request, EdgeMetrics metrics, Time time) {
    this.request = request;
    this.metrics = metrics;
    this.time = time;
    this.startNanos = time.nanos();
    this.endNanos = startNanos;
    this.keepsText = !request.input().isEmpty();
    for (int i = 0; i < request.answers(); i++) {
      answers.add(new AnswerAccount());
    }
  }

  void replica(ReplicaId placed) {
    replica = placed;
  }

  void emitted(int index, Emission emission, String text) {
    long now = time.nanos();
    AnswerAccount answer = answers.get(index);
    if (!hasToken) {
      hasToken = true;
      firstTokenNanos = now;
      metrics.firstToken(request.model(), now - startNanos);
    }
    if (!answer.hasToken) {
      answer.hasToken = true;
      queuedMillis = Math.max(queuedMillis, emission.getQueuedMs());
      metrics.queued(request.model(), emission.getQueuedMs());
    } else {
      metrics.nextToken(request.model(), now - answer.lastNanos);
    }
    answer.lastNanos = now;
    text(index, text);
    if (keepsText) {
      for (Token token : emission.getTokensList()) {
        answer.ids.add(token.getId());
        if (request.sampling().topLogprobs() >= 0) {
          answer.logprobs.add(token.getLogprob());
        }
      }
    }
  }

  void text(int index, String text) {
    if (keepsText) {
      answers.get(index).text.append(text);
    }
  }

  void finished(int index, FinishReason reason) {
    answers.get(index).reason = reason;
  }

  void concluded(Status how, @Nullable MeshException why) {
    status = how;
    failure = why;
    endNanos = time.nanos();
  }

  long queuedMillis() {
    return queuedMillis;
  }

  long firstTokenMillis() {
    return hasToken ? (firstTokenNanos - startNanos) / 1_000_000 : 0;
  }

  Status status() {
    return status;
  }

  @Nullable MeshException failure() {
    return failure;
  }

  /** Counts it, once it is settled. */
  void count(Usage usage) {
    metrics.finished(request, status, failure, usage, endNanos - startNanos);
    for (AnswerAccount answer : answers) {
      metrics.answer(request.model(), reasonWord(answer.reason));
    }
  }

  /** The fact for the data lake. */
  Event event(String id, NodeId node, String modelDigest, Usage usage) {
    ResponseFinished.Builder body =
        ResponseFinished.newBuilder()
            .setResponseId(request.response().value())
            .setDialect(request.dialect())
            .setModel(modelDigest.isEmpty() ? EdgeModels.shown(request.model()) : request.model())
            .setModelDigest(modelDigest)
            .setReplica(replica == null ? "" : replica.value())
            .setStatus(statusWord())
            .setErrorCode(failure == null ? "" : failure.code())
            .setPromptTokens(usage.prompt())
            .setCachedTokens(usage.cached())
            .setOutputTokens(usage.output())
            .setQueuedMs((int) queuedMillis)
            .setFirstTokenMs((int) firstTokenMillis())
            .setTotalMs((int) ((endNanos - startNanos) / 1_000_000))
            .setStreamed(request.streamed())
            .setStored(request.stored())
            .setInput(request.input());
    if (request.previous() != null) {
      body.setPreviousResponseId(request.previous().value());
    }
    StringBuilder output = new StringBuilder();
    for (AnswerAccount answer : answers) {
      output.append(output.isEmpty() ? "" : "\n").append(answer.text);
      body.addGenerations(
          Generation.newBuilder().addAllTokenIds(answer.ids).addAllTokenLogprobs(answer.logprobs));
      if (answer.reason != null) {
        body.addFinishReasons(answer.reason.name());
      }
    }
    return Event.newBuilder()
        .setId(id)
        .setSchema(SCHEMA)
        .setTime(time.epochMillis())
        .setTenant(request.tenant().value())
        .setNode(node.value())
        .setResponse(body.setOutput(output.toString()))
        .build();
  }

  private String statusWord() {
    boolean cut = answers.stream().anyMatch(answer -> answer.reason == FinishReason.LENGTH);
    return status == Status.COMPLETED && cut
        ? "incomplete"
        : status.name().toLowerCase(Locale.ROOT);
  }

  private String reasonWord(@Nullable FinishReason reason) {
    if (reason != null) {
      return reason == FinishReason.LENGTH ? "length" : "stop";
    }
    return status == Status.CANCELLED ? "abort" : "error";
  }
}
