package firstlight.batcher;

import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.model.Constraint;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Turns a specification into a Sequence, or says why not. One rule holds for context and KV memory:
 * prompt and output together must fit. A prompt that leaves no room for one token is refused; a
 * longer output than there is room for is cut and ends with the reason LENGTH.
 */
final class Admission {
  /** What becomes of a submission. */
  sealed interface Decision {
    record Admit(Sequence sequence) implements Decision {}

    /** It is over before it begins. */
    record Answer(Outcome outcome) implements Decision {}
  }

  private final int contextMax;
  private final int kvPositions;
  private final IntFunction<byte[]> tokenBytes;
  private final Constraints constraints;

  /**
   * @param contextMax positions the model allows
   * @param kvPositions positions the Blocks can hold
   */
  Admission(
      int contextMax, int kvPositions, IntFunction<byte[]> tokenBytes, Constraints constraints) {
    this.contextMax = contextMax;
    this.kvPositions = kvPositions;
    this.tokenBytes = tokenBytes;
    this.constraints = constraints;
  }

  Decision decide(GenerationSpec spec, Sequence.Arrival arrival, int credit) {
    int room = Math.min(contextMax, kvPositions) - spec.prompt().length;
    if (room < 1) {
      return new Decision.Answer(
          new Refused(spec.id(), tooLong(contextMax, kvPositions, spec.prompt().length)));
    }
    try {
      return decide(spec, arrival, Math.min(spec.outputMax(), room), credit);
    } catch (MeshException e) {
      return new Decision.Answer(new Refused(spec.id(), e));
    }
  }

  private Decision decide(
      GenerationSpec spec, Sequence.Arrival arrival, int outputMax, int credit) {
    StopRule stopRule = new StopRule(spec.stop(), spec.stopTokens());
    Guide guide = spec.isConstrained() ? guide(spec) : null;
    for (int i = 0; i < spec.known().length; i++) {
      int token = spec.known()[i];
      if (guide != null) {
        guide.next(token);
      }
      StopRule.Verdict verdict =
          stopRule.next(token, tokenBytes.apply(token), last(guide, i + 1 >= outputMax));
      if (verdict.end() != null) {
        Usage usage = new Usage(spec.prompt().length, 0, i + 1);
        return new Decision.Answer(new Ended(spec.id(), verdict.end(), usage, verdict.stop()));
      }
    }
    if (guide != null) {
      guide.settle();
    }
    return new Decision.Admit(
        new Sequence(spec, arrival, outputMax, stopRule, guide, Math.min(credit, outputMax)));
  }

  /** Compiled before, but for the rare case that others have taken its place since. */
  private Guide guide(GenerationSpec spec) {
    Constraint constraint = constraints.find(spec.constraint());
    if (constraint == null) {
      constraint = constraints.compile(spec.constraint());
      constraints.keep(spec.constraint(), constraint);
    }
    return new Guide(constraint, spec.stopTokens());
  }

  /** Why a generation ends now, if no token says more; null: it goes on. */
  static @Nullable FinishReason last(@Nullable Guide guide, boolean full) {
    if (guide != null && guide.over()) {
      return FinishReason.END;
    }
    return full ? FinishReason.LENGTH : null;
  }

  static MeshException tooLong(int contextMax, int kvPositions, int prompt) {
    String message =
        contextMax <= kvPositions
            ? "This model's maximum context length is %d tokens, but the prompt has %d, which"
                + " leaves no room for an answer. Shorten the prompt."
            : "This replica can hold at most %d tokens of one request, but the prompt has %d, which"
                + " leaves no room for an answer. Shorten the prompt.";
    return new MeshException(
        FailureKind.INVALID_REQUEST,
        "context_length_exceeded",
        message.formatted(Math.min(contextMax, kvPositions), prompt),
        "prompt",
        0);
  }
}
