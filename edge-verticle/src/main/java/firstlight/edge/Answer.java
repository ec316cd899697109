package firstlight.edge;

import firstlight.model.Tokenizer;
import firstlight.model.Utf8Stream;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.Token;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One generation of a turn, as it comes in from its replica: counts its tokens, turns its bytes
 * into whole characters, and gives credit back as they are taken. When its replica is lost, it goes
 * on with another one, from the tokens that came: nothing of what is here changes then.
 */
final class Answer implements GenerationListener {
  private final Turn turn;
  private final int index;
  private final Tokenizer tokenizer;
  private final int creditTokens;
  private final Utf8Stream text = new Utf8Stream();
  private GenerationSpec spec;
  private ReplicaReport replica;

  /** Null while it has no replica. */
  private @Nullable ReplicaLink link;

  private int losses;
  private long lostNanos;

  /** Since when its client has waited because of losses; 0: it has not. */
  private long pausedNanos;

  private int position;
  private int owed;
  private int cached;
  private boolean ended;
  private @Nullable Usage usage;

  /**
   * @param index among the answers of the turn
   * @param replica where it begins
   * @param creditTokens what a replica may send before the first credit
   */
  Answer(
      Turn turn,
      int index,
      GenerationSpec spec,
      ReplicaReport replica,
      Tokenizer tokenizer,
      int creditTokens) {
    this.turn = turn;
    this.index = index;
    this.spec = spec;
    this.replica = replica;
    this.tokenizer = tokenizer;
    this.creditTokens = creditTokens;
  }

  /** Gives it to its replica. */
  void begin(ReplicaLink to) {
    link = to;
    to.submit(spec, creditTokens, this);
  }

  /** Gives the rest of it to another replica. */
  void goOn(ReplicaReport next, ReplicaLink to) {
    replica = next;
    spec = turn.moved(this);
    link = to;
    to.submit(spec, Math.max(0, creditTokens - owed), this);
  }

  /** No replica was found for the rest of it. */
  void giveUp(MeshException failure) {
    close();
    turn.failed(this, failure);
  }

  Turn turn() {
    return turn;
  }

  GenerationSpec spec() {
    return spec;
  }

  ReplicaReport replica() {
    return replica;
  }

  /** Whether a token of it came. */
  boolean begun() {
    return position > 0;
  }

  /** Its replica is lost. */
  void lost() {
    losses++;
    lostNanos = turn.nanos();
    pausedNanos = pausedNanos == 0 ? lostNanos : pausedNanos;
  }

  /** How many replicas it has lost. */
  int losses() {
    return losses;
  }

  /** When it lost the last one. */
  long lostNanos() {
    return lostNanos;
  }

  /** What another replica must have: room for all of it, since its length is settled. */
  Placement.Need need() {
    return new Placement.Need(
        spec.prompt().length + spec.outputMax(), begun() ? replica.capacity().numerics() : null);
  }

  int index() {
    return index;
  }

  boolean ended() {
    return ended;
  }

  /** Tells the replica to stop; the ending is still awaited, if there is a replica. */
  void cancel() {
    if (link == null) {
      close();
    } else if (!ended) {
      link.cancel(spec.id());
    }
  }

  /** Stops waiting for its ending. */
  void abandon() {
    close();
    if (link != null) {
      link.forget(spec.id());
    }
  }

  private void close() {
    if (!ended) {
      ended = true;
      turn.closed();
    }
  }

  /** Allows the replica to send again what was taken. */
  void giveCredit(int atLeast) {
    if (!ended && owed >= atLeast && owed > 0) {
      if (link != null) {
        link.credit(spec.id(), owed);
      }
      owed = 0;
    }
  }

  /** What it cost: as its replica says, or else as far as it was seen here. */
  Usage usage() {
    if (usage != null) {
      return usage;
    }
    return position == 0 ? Usage.NONE : new Usage(spec.prompt().length, cached, position);
  }

  @Override
  public void emitted(Emission emission) {
    if (emission.getPosition() != position) {
      cancel();
      turn.failed(
          this,
          new MeshException(
              FailureKind.INTERNAL, "tokens_lost", "Tokens were lost on their way. Try again."));
      return;
    }
    if (position == 0) {
      cached = Math.clamp(emission.getCached(), 0, spec.prompt().length);
    }
    if (pausedNanos != 0) {
      turn.wentOn(pausedNanos);
      pausedNanos = 0;
    }
    position += emission.getTokensCount();
    owed += emission.getTokensCount();
    String characters = text.feed(emission.getText().toByteArray());
    turn.emitted(this, emission, characters, tokens(emission));
    if (!turn.paused()) {
      giveCredit(Math.max(1, creditTokens / 2));
    }
  }

  @Override
  public void refused(MeshException failure) {
    if (!goesOn(failure)) {
      close();
      turn.failed(this, failure);
    }
  }

  /** Whether it waits for another replica now. */
  private boolean goesOn(MeshException failure) {
    // What was told is told: nobody waits for the rest.
    if (turn.told() || !turn.lost(this, failure)) {
      return false;
    }
    link = null;
    return true;
  }

  @Override
  public void ended(Ending ending) {
    FinishReason reason = reason(ending);
    boolean isStopped = reason == null || reason == FinishReason.CANCELLED;
    if (isStopped && goesOn(Turn.stoppedThere())) {
      return;
    }
    close();
    usage = usage(ending);
    String rest = text.flush();
    String stop = ending.getStop().isEmpty() ? null : ending.getStop().toStringUtf8();
    turn.ended(this, rest, reason, stop);
  }

  private Usage usage(Ending ending) {
    int prompt = ending.getPromptTokens();
    // What the replica of the first token found in its cache was told; where the rest went, other
    // things were found, and more of them.
    int found = losses > 0 && begun() ? cached : ending.getCachedTokens();
    return new Usage(prompt, Math.clamp(found, 0, prompt), ending.getOutputTokens());
  }

  private static @Nullable FinishReason reason(Ending ending) {
    for (FinishReason reason : FinishReason.values()) {
      if (reason.name().equals(ending.getReason())) {
        return reason;
      }
    }
    return null;
  }

  private List<TurnToken> tokens(Emission emission) {
    List<TurnToken> tokens = new ArrayList<>(emission.getTokensCount());
    for (Token token : emission.getTokensList()) {
      List<TurnToken.Alternative> top = new ArrayList<>(token.getTopIdsCount());
      for (int i = 0; i < Math.min(token.getTopIdsCount(), token.getTopLogprobsCount()); i++) {
        int alternative = token.getTopIds(i);
        top.add(
            new TurnToken.Alternative(alternative, bytes(alternative), token.getTopLogprobs(i)));
      }
      tokens.add(new TurnToken(token.getId(), bytes(token.getId()), token.getLogprob(), top));
    }
    return tokens;
  }

  private byte[] bytes(int token) {
    return token >= 0 && token < tokenizer.vocabularySize() ? tokenizer.bytes(token) : new byte[0];
  }
}
