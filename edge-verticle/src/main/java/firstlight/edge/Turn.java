package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Sampling;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One running turn. Its listener hears of it until {@code told} is set: by the last event, or by a
 * cancel. It then still waits a little for what its replicas say of the cost, and settles: the
 * place in {@link Load} is given back and the account closed, exactly once.
 */
final class Turn implements TurnHandle {
  private static final Logger LOG = LoggerFactory.getLogger(Turn.class);
  private static final long ENDINGS_MILLIS_MAX = 1_000;
  private static final long SEED_STEP = 0x9E3779B97F4A7C15L;

  /** The code of what a replica stopped without being asked. */
  static final String REPLICA_STOPPED = "replica_stopped";

  private final ReplicaTurns turns;
  private final TurnRequest request;
  private final TurnListener listener;
  private final TurnAccount account;
  private final long deadline;
  private final List<Answer> answers = new ArrayList<>();
  private PromptBuilder.@Nullable Prompts prompts;
  private @Nullable Long statusTimer;
  private boolean started;
  private boolean paused;
  private boolean told;
  private boolean settled;

  /**
   * @param deadline as in {@link GenerationSpec#deadline}
   */
  Turn(
      ReplicaTurns turns,
      TurnRequest request,
      TurnListener listener,
      TurnAccount account,
      long deadline) {
    this.turns = turns;
    this.request = request;
    this.listener = listener;
    this.account = account;
    this.deadline = deadline;
  }

  TurnRequest request() {
    return request;
  }

  TurnAccount account() {
    return account;
  }

  boolean paused() {
    return paused;
  }

  /** Whether nobody waits for an event any more. */
  boolean told() {
    return told;
  }

  /** Places and submits its generations. */
  void submit(EdgeModel model, PromptBuilder.Prompts built) {
    prompts = built;
    account.prepared(built.parsers());
    // With the first token the status goes out. A client that waits longer hears something all the
    // same, and from then on a refusal can only be an event.
    statusTimer =
        turns.vertx().setTimer(turns.config().times().keepAlive().toMillis(), _ -> start());
    int credit = turns.config().limits().creditTokens();
    for (int prompt = 0; prompt < built.ids().size(); prompt++) {
      int length = built.ids().get(prompt).length;
      ReplicaReport replica = turns.place(model, length + 1);
      ReplicaLink link = turns.links().link(replica.replica()).orElseThrow();
      // Settled now, so that no other replica can give it another end.
      int outputMax =
          Math.min(built.outputMax(prompt, request), replica.capacity().positionsMax() - length);
      for (int choice = 0; choice < request.choices() && !told; choice++) {
        GenerationSpec spec = spec(built, prompt, answers.size(), outputMax);
        Answer answer = new Answer(this, answers.size(), spec, replica, model.tokenizer(), credit);
        answers.add(answer);
        account.placed(answer.index(), replica.replica(), spec);
        turns.sent(replica.replica(), spec);
        answer.begin(link);
      }
    }
  }

  private GenerationSpec spec(PromptBuilder.Prompts built, int prompt, int index, int outputMax) {
    return new GenerationSpec(
        new GenerationId(turns.ids().next("gen_")),
        request.tenant(),
        request.model(),
        built.ids().get(prompt),
        new int[0],
        outputMax,
        sampling(index),
        built.stop(),
        built.stopTokens(),
        deadline,
        request.urgency().priority(),
        request.origin().stored(),
        built.constraint(),
        false);
  }

  /** The rest of an answer for the replica that it has now. */
  GenerationSpec moved(Answer answer) {
    GenerationSpec rest =
        answer
            .spec()
            .moved(new GenerationId(turns.ids().next("gen_")), account.ids(answer.index()));
    account.placed(answer.index(), answer.replica().replica(), rest);
    turns.moved(answer.replica().replica(), rest);
    return rest;
  }

  /** Whether an answer whose replica is lost may go on. */
  boolean lost(Answer answer, MeshException failure) {
    return turns.moves().take(answer, answer.replica().replica(), failure);
  }

  /** An answer's next token came, so long after its replica was lost. */
  void wentOn(long lostNanos) {
    turns.metrics().wentOn(request.model(), nanos() - lostNanos);
  }

  long nanos() {
    return turns.time().nanos();
  }

  private Sampling sampling(int index) {
    Sampling all = request.sampling();
    return new Sampling(
        all.temperature(),
        all.topK(),
        all.topP(),
        all.minP(),
        all.repetitionPenalty(),
        all.presencePenalty(),
        all.frequencyPenalty(),
        all.biasTokens(),
        all.biasValues(),
        all.seed() + index * SEED_STEP,
        all.topLogprobs());
  }

  void emitted(Answer answer, Emission emission, String text, List<TurnToken> tokens) {
    account.emitted(answer.index(), emission, text);
    start();
    tell(new TurnEvent.Delta(answer.index(), text, tokens));
  }

  void ended(Answer answer, String rest, @Nullable FinishReason reason, @Nullable String stop) {
    if (told) {
      settleIfEnded();
      return;
    }
    if (reason == null || reason == FinishReason.CANCELLED) {
      failed(answer, stoppedThere());
      return;
    }
    start();
    if (!rest.isEmpty()) {
      account.text(answer.index(), rest);
      tell(new TurnEvent.Delta(answer.index(), rest, List.of()));
    }
    account.finished(answer.index(), reason, stop);
    tell(new TurnEvent.ChoiceFinished(answer.index(), reason, answer.usage(), stop));
    if (answers.size() == request.answers() && answers.stream().allMatch(Answer::ended)) {
      tell(new TurnEvent.Finished(usage(), account.queuedMillis(), account.firstTokenMillis()));
      conclude(TurnAccount.Status.COMPLETED, null);
    }
  }

  /** One of its generations runs no more. */
  void closed() {
    turns.closed();
  }

  /** One of its answers has failed, and so has the turn. */
  void failed(Answer answer, MeshException failure) {
    if (told) {
      settleIfEnded();
    } else {
      fail(failure);
    }
  }

  /** The turn has failed. */
  void fail(Throwable failure) {
    if (!told) {
      MeshException known = Errors.tellable(failure);
      tell(new TurnEvent.Failed(known));
      conclude(TurnAccount.Status.FAILED, known);
    }
  }

  @Override
  public void cancel() {
    if (!told) {
      conclude(TurnAccount.Status.CANCELLED, null);
    }
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    if (paused) {
      paused = false;
      answers.forEach(answer -> answer.giveCredit(1));
    }
  }

  private void start() {
    if (!started && !told && prompts != null) {
      started = true;
      tell(new TurnEvent.Started(prompts.ids(), prompts.parsers()));
    }
  }

  // A mistake in a listener must not reach the other generations that share the replica's frame.
  private void tell(TurnEvent event) {
    if (told) {
      return;
    }
    try {
      listener.on(event);
    } catch (RuntimeException e) {
      LOG.error("the writer of {} failed at {}", request.response(), event, e);
      if (!(event instanceof TurnEvent.Failed)) {
        fail(e);
      }
    }
  }

  private void conclude(TurnAccount.Status status, @Nullable MeshException failure) {
    if (told) {
      return;
    }
    told = true;
    account.concluded(status, failure);
    if (statusTimer != null) {
      turns.vertx().cancelTimer(statusTimer);
    }
    answers.forEach(Answer::cancel);
    settleIfEnded();
    if (!settled) {
      turns.vertx().setTimer(ENDINGS_MILLIS_MAX, _ -> abandon());
    }
  }

  private void abandon() {
    if (!settled) {
      answers.forEach(Answer::abandon);
      settleIfEnded();
    }
  }

  private void settleIfEnded() {
    if (!settled && answers.stream().allMatch(Answer::ended)) {
      settled = true;
      answers.forEach(answer -> account.cost(answer.index(), answer.usage()));
      turns.settled(this, usage());
    }
  }

  private Usage usage() {
    Usage sum = Usage.NONE;
    for (int prompt = 0; prompt < request.prompts().size(); prompt++) {
      Usage one = Usage.NONE;
      int output = 0;
      for (Answer answer : answers) {
        if (answer.index() / request.choices() == prompt) {
          one = one.prompt() == 0 ? answer.usage() : one;
          output += answer.usage().output();
        }
      }
      sum = sum.plus(new Usage(one.prompt(), one.cached(), output));
    }
    return sum;
  }

  /** Its replica has stopped it, and does not say why. */
  static MeshException stoppedThere() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        REPLICA_STOPPED,
        "The replica that was at work on this has stopped it. Try again.",
        null,
        1_000);
  }
}
