package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.Time;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What happens in a turn, for metrics, and in the end for the Events. */
final class TurnAccount {
  private final TurnRequest request;
  private final EdgeMetrics metrics;
  private final Time time;
  private final long startNanos;
  private final List<AnswerTrace> answers = new ArrayList<>();
  private Supplier<AnswerParser> parsers = AnswerParser::plain;
  private long firstTokenNanos;
  private long queuedMillis;
  private boolean hasToken;
  private Status status = Status.FAILED;
  private @Nullable MeshException failure;
  private long endNanos;

  /** How a turn ended. */
  enum Status {
    COMPLETED,
    FAILED,
    CANCELLED
  }

  /** Begins now. */
  TurnAccount(TurnRequest request, EdgeMetrics metrics, Time time) {
    this.request = request;
    this.metrics = metrics;
    this.time = time;
    this.startNanos = time.nanos();
    this.endNanos = startNanos;
    boolean hasLogprobs = request.sampling().topLogprobs() >= 0;
    for (int i = 0; i < request.answers(); i++) {
      answers.add(new AnswerTrace(i, hasLogprobs, startNanos));
    }
  }

  /** Its prompts are there. */
  void prepared(Supplier<AnswerParser> answerParsers) {
    parsers = answerParsers;
  }

  void placed(int index, ReplicaId replica, GenerationSpec spec) {
    answers
        .get(index)
        .placed(replica.value(), spec.sampling().seed(), spec.prompt().length, spec.outputMax());
  }

  /** The ids of the tokens that came of an answer. */
  int[] ids(int index) {
    return answers.get(index).ids();
  }

  void emitted(int index, Emission emission, String text) {
    long now = time.nanos();
    AnswerTrace answer = answers.get(index);
    if (!hasToken) {
      hasToken = true;
      firstTokenNanos = now;
      metrics.firstToken(request.model(), now - startNanos);
    }
    if (!answer.hasToken()) {
      queuedMillis = Math.max(queuedMillis, emission.getQueuedMs());
      metrics.queued(request.model(), emission.getQueuedMs());
    } else {
      metrics.nextToken(request.model(), now - answer.lastNanos());
    }
    answer.emitted(emission, text, now, (now - startNanos) / 1_000_000);
  }

  void text(int index, String text) {
    answers.get(index).text(text);
  }

  void finished(int index, FinishReason reason, @Nullable String stop) {
    answers.get(index).finished(reason, stop);
  }

  void cost(int index, Usage usage) {
    answers.get(index).cost(usage);
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

  long totalMillis() {
    return (endNanos - startNanos) / 1_000_000;
  }

  Status status() {
    return status;
  }

  @Nullable MeshException failure() {
    return failure;
  }

  List<AnswerTrace> answers() {
    return answers;
  }

  Supplier<AnswerParser> parsers() {
    return parsers;
  }

  /** Counts it, once it is settled. */
  void count(Usage usage) {
    metrics.finished(request, status, failure, usage, endNanos - startNanos);
    for (AnswerTrace answer : answers) {
      metrics.answer(request.model(), reasonWord(answer.reason()));
    }
  }

  /** The word for how it ended: completed, incomplete, failed or cancelled. */
  String statusWord() {
    boolean cut = answers.stream().anyMatch(answer -> answer.reason() == FinishReason.LENGTH);
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
