package firstlight.edge;

import firstlight.model.Tokenizer;
import firstlight.model.Utf8Stream;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.Token;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One generation of a turn, as it comes in from its replica: counts its tokens, turns its bytes
 * into whole characters, and gives credit back as they are taken.
 */
final class Answer implements GenerationListener {
  private final Turn turn;
  private final int index;
  private final GenerationId id;
  private final ReplicaLink link;
  private final Tokenizer tokenizer;
  private final int promptTokens;
  private final int creditTokens;
  private final Utf8Stream text = new Utf8Stream();
  private int position;
  private int owed;
  private int cached;
  private boolean ended;
  private @Nullable Usage usage;

  /**
   * @param index among the answers of the turn
   * @param creditTokens what the replica may send before the first credit
   */
  Answer(
      Turn turn,
      int index,
      GenerationId id,
      ReplicaLink link,
      Tokenizer tokenizer,
      int promptTokens,
      int creditTokens) {
    this.turn = turn;
    this.index = index;
    this.id = id;
    this.link = link;
    this.tokenizer = tokenizer;
    this.promptTokens = promptTokens;
    this.creditTokens = creditTokens;
  }

  int index() {
    return index;
  }

  boolean ended() {
    return ended;
  }

  /** Tells the replica to stop; the ending is still awaited. */
  void cancel() {
    if (!ended) {
      link.cancel(id);
    }
  }

  /** Stops waiting for its ending. */
  void abandon() {
    close();
    link.forget(id);
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
      link.credit(id, owed);
      owed = 0;
    }
  }

  /** What it cost: as its replica says, or else as far as it was seen here. */
  Usage usage() {
    if (usage != null) {
      return usage;
    }
    return position == 0 ? Usage.NONE : new Usage(promptTokens, cached, position);
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
      cached = Math.clamp(emission.getCached(), 0, promptTokens);
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
    close();
    turn.failed(this, failure);
  }

  @Override
  public void ended(Ending ending) {
    close();
    int prompt = ending.getPromptTokens();
    usage =
        new Usage(
            prompt, Math.clamp(ending.getCachedTokens(), 0, prompt), ending.getOutputTokens());
    String rest = text.flush();
    String stop = ending.getStop().isEmpty() ? null : ending.getStop().toStringUtf8();
    turn.ended(this, rest, reason(ending), stop);
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
