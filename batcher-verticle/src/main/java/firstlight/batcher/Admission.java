package firstlight.batcher;

import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import java.util.function.IntFunction;

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

  /**
   * @param contextMax positions the model allows
   * @param kvPositions positions the Blocks can hold
   */
  Admission(int contextMax, int kvPositions, IntFunction<byte[]> tokenBytes) {
    this.contextMax = contextMax;
    this.kvPositions = kvPositions;
    this.tokenBytes = tokenBytes;
  }

  Decision decide(GenerationSpec spec, Sequence.Arrival arrival, int credit) {
    int room = Math.min(contextMax, kvPositions) - spec.prompt().length;
    if (room < 1) {
      return new Decision.Answer(
          new Refused(spec.id(), tooLong(contextMax, kvPositions, spec.prompt().length)));
    }
    int outputMax = Math.min(spec.outputMax(), room);
    StopRule stopRule = new StopRule(spec.stop(), spec.stopTokens());
    for (int i = 0; i < spec.known().length; i++) {
      int token = spec.known()[i];
      StopRule.Verdict verdict = stopRule.next(token, tokenBytes.apply(token), i + 1 >= outputMax);
      if (verdict.end() != null) {
        Usage usage = new Usage(spec.prompt().length, 0, i + 1);
        return new Decision.Answer(new Ended(spec.id(), verdict.end(), usage, verdict.stop()));
      }
    }
    return new Decision.Admit(
        new Sequence(spec, arrival, outputMax, stopRule, Math.min(credit, outputMax)));
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
