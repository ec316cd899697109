package firstlight.gpu;

import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import java.util.List;

/**
 * The tokens of a Step, Slice after Slice: one row each in every matrix product.
 *
 * @param tokens ids by row
 * @param positions of each row in its Sequence
 * @param sliceOf index of each row's Slice
 * @param sampled rows whose logits are wanted, in the order of the results
 */
record StepRows(List<Slice> slices, int[] tokens, int[] positions, int[] sliceOf, int[] sampled) {

  static StepRows of(RunStep step) {
    List<Slice> slices = step.slices();
    int count = step.tokens();
    int samples = slices.stream().mapToInt(Slice::sampled).sum();
    int[] tokens = new int[count];
    int[] positions = new int[count];
    int[] sliceOf = new int[count];
    int[] sampled = new int[samples];
    int row = 0;
    int sample = 0;
    for (int i = 0; i < slices.size(); i++) {
      Slice slice = slices.get(i);
      int length = slice.tokens().length;
      for (int j = 0; j < length; j++, row++) {
        tokens[row] = slice.tokens()[j];
        positions[row] = slice.start() + j;
        sliceOf[row] = i;
        if (j >= length - slice.sampled()) {
          sampled[sample++] = row;
        }
      }
    }
    return new StepRows(slices, tokens, positions, sliceOf, sampled);
  }

  int count() {
    return tokens.length;
  }

  Slice slice(int row) {
    return slices.get(sliceOf[row]);
  }
}
