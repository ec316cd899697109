package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What happens to a turn, in this order: {@link Started} once; {@link Delta}s of all its choices,
 * each choice's in their order; {@link ChoiceFinished} once for each choice; then {@link Finished}
 * once. {@link Failed} may stand in any place instead and is then the last. After a cancel no event
 * comes.
 */
sealed interface TurnEvent {

  /**
   * The first token is there, or did not come within the time that a stream may be silent. Failures
   * before this one can still be answered with an HTTP status.
   *
   * @param prompts the token ids of each prompt; not to be changed
   * @param parsers gives a new one for each answer
   */
  record Started(List<int[]> prompts, Supplier<AnswerParser> parsers) implements TurnEvent {
    public Started {
      prompts = List.copyOf(prompts);
    }
  }

  /**
   * A piece of an answer. The texts of a choice's Deltas joined are its answer's text, and their
   * tokens joined are its tokens, but within one Delta text and tokens need not cover each other: a
   * character is held back until it is whole, and text that may be the beginning of a stop string
   * until it is not.
   *
   * @param text whole characters; may be empty
   * @param tokens may be empty, with the last characters held back
   */
  record Delta(int choice, String text, List<TurnToken> tokens) implements TurnEvent {
    public Delta {
      tokens = List.copyOf(tokens);
    }
  }

  /**
   * A choice has ended; nothing more comes of it.
   *
   * @param reason never CANCELLED
   * @param usage of this choice alone, its whole prompt included
   * @param stop the stop string that ended it, when one did
   */
  record ChoiceFinished(int choice, FinishReason reason, Usage usage, @Nullable String stop)
      implements TurnEvent {}

  /**
   * All choices have ended.
   *
   * @param usage of the turn: each prompt counted once, the output of all choices
   * @param queuedMillis longest time one of its generations waited at its replica
   * @param firstTokenMillis from {@link Turns#start} to the first token
   */
  record Finished(Usage usage, long queuedMillis, long firstTokenMillis) implements TurnEvent {}

  /** The turn has failed; all its generations are stopped. */
  record Failed(MeshException failure) implements TurnEvent {}
}
