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
  private final List<Sequence> sequences = new ArrayList<>();
  private final List<Slice> slices = new ArrayList<>();
  private int left;

  StepDraft(long step, int tokensMax) {
    this.step = step;
    this.left = tokensMax;
  }

  /** Tokens there is still room for. */
  int left() {
    return left;
  }

  void add(Sequence sequence, int tokens) {
    slices.add(sequence.slice(tokens));
    sequences.add(sequence);
    sequence.inFlight(true);
    left -= tokens;
  }

  boolean isEmpty() {
    return slices.isEmpty();
  }

  int size() {
    return slices.size();
  }

  Sequence sequence(int index) {
    return sequences.get(index);
  }

  Slice slice(int index) {
    return slices.get(index);
  }

  RunStep step() {
    return new RunStep(step, slices);
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
