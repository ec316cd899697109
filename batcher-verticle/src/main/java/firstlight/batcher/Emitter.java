package firstlight.batcher;

import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Time;
import java.util.List;
import java.util.function.IntFunction;

/** Turns tokens that the device chose into what is told of them. */
final class Emitter {
  private final IntFunction<byte[]> tokenBytes;
  private final Time time;
  private final Counts counts;

  Emitter(SchedulerParts parts) {
    this.tokenBytes = parts.tokenBytes();
    this.time = parts.time();
    this.counts = parts.counts();
  }

  /**
   * Takes in a token that the device chose, and says what it means.
   *
   * @throws MeshException the generation cannot be kept to its constraint any further
   */
  StopRule.Verdict emit(Sequence sequence, SampledToken token, List<Outcome> outcomes) {
    boolean first = !sequence.emitted();
    sequence.append(token.id());
    sequence.notePause(true, time.nanos());
    Guide guide = sequence.guide();
    if (guide != null) {
      guide.next(token.id());
    }
    StopRule.Verdict verdict =
        sequence
            .stopRule()
            .next(token.id(), tokenBytes.apply(token.id()), Admission.last(guide, sequence.full()));
    counts.generationTokens++;
    // Where tokens are known, the prompt was counted where they came from.
    counts.promptTokens +=
        first && sequence.spec().known().length == 0 ? sequence.promptLength() : 0;
    outcomes.add(sequence.emitted(token, verdict.text(), first));
    if (guide != null && verdict.end() == null) {
      guide.settle();
    }
    return verdict;
  }
}
