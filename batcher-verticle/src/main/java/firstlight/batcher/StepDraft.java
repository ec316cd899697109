package firstlight.batcher;

import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import firstlight.protocol.SliceResult;
import firstlight.protocol.StepResult;
import java.util.ArrayList;
import java.util.List;

/** A Step being put together, and later the one that the device works on. */
final class StepDraft {
  private final long step;
  private final int tokensMax;
  private final List<Part> parts = new ArrayList<>();
  private List<Slice> slices = List.of();
  private int left;

  private static final class Part {
    final Sequence sequence;
    final int tokens;
    int[] guesses = {};

    Part(Sequence sequence, int tokens) {
      this.sequence = sequence;
      this.tokens = tokens;
    }
  }

  StepDraft(long step, int tokensMax) {
    this.step = step;
    this.tokensMax = tokensMax;
    this.left = tokensMax;
  }

  /** Tokens there is still room for. */
  int left() {
    return left;
  }

  void add(Sequence sequence, int tokens) {
    parts.add(new Part(sequence, tokens));
    sequence.inFlight(true);
    left -= tokens;
  }

  /** Tokens to be tried after those that the Sequence has. */
  void guess(int index, int[] guesses) {
    parts.get(index).guesses = guesses;
    left -= guesses.length;
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Tokens that are in it. */
  int tokens() {
    return tokensMax - left;
  }

  int size() {
    return parts.size();
  }

  Sequence sequence(int index) {
    return parts.get(index).sequence;
  }

  /** Tokens of a Sequence, without guesses. */
  int tokens(int index) {
    return parts.get(index).tokens;
  }

  int[] guesses(int index) {
    return parts.get(index).guesses;
  }

  /** Puts it into words; nothing is added to it afterwards. */
  RunStep step() {
    slices = parts.stream().map(part -> part.sequence.slice(part.tokens, part.guesses)).toList();
    return new RunStep(step, slices);
  }

  /** As they were sent. */
  List<Slice> slices() {
    return slices;
  }

  /**
   * @throws IllegalStateException when the result does not belong to this Step
   */
  void check(StepResult result, int vocabulary) {
    require(result.step() == step && result.slices().size() == slices.size());
    for (int i = 0; i < slices.size(); i++) {
      SliceResult got = result.slices().get(i);
      require(got.generation().equals(slices.get(i).generation()));
      require(got.tokens().size() == slices.get(i).sampled());
      require(got.tokens().stream().allMatch(t -> t.id() >= 0 && t.id() < vocabulary));
    }
  }

  private void require(boolean holds) {
    if (!holds) {
      throw new IllegalStateException("the device's answer does not fit Step " + step);
    }
  }
}
