package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.stream.IntStream;
import jdk.incubator.vector.FloatVector;

/**
 * From the residual stream to tokens, for the sampled rows only. Logits take much room, so a
 * limited number of rows is done at a time.
 */
final class Head {
  private static final int ROWS = 16;

  private final ModelWeights weights;
  private final int rowsMax;
  private final Activations normed;
  private final float[] logits;
  private final Sampler[] samplers;

  Head(ModelWeights weights, DeviceShape shape) {
    this.weights = weights;
    rowsMax = Math.min(ROWS, shape.stepTokensMax());
    normed = new Activations(rowsMax, weights.model().embedding(), weights.output().forms());
    logits = new float[Math.multiplyExact(rowsMax, weights.output().stride())];
    samplers =
        IntStream.range(0, shape.threads())
            .mapToObj(_ -> new Sampler(weights.model().vocabulary()))
            .toArray(Sampler[]::new);
  }

  /** Phases of a run with so many sampled rows. */
  int phases(int sampled) {
    return 3 * ((sampled + rowsMax - 1) / rowsMax);
  }

  /**
   * @param stream the Transformer's
   * @param into one for each sampled row
   */
  void run(StepRows rows, float[] stream, SampledToken[] into, Turn turn) {
    for (int first = 0; first < into.length; first += rowsMax) {
      int start = first;
      int count = Math.min(rowsMax, into.length - first);
      turn.together(share -> normalise(rows, stream, start, share.range(count)));
      turn.together(share -> weights.output().multiply(normed, count, logits, share));
      turn.together(
          share -> {
            for (int i = share.from(count); i < share.to(count); i++) {
              into[start + i] = sample(rows, rows.sampled()[start + i], i, turn.thread());
            }
          });
    }
  }

  private void normalise(StepRows rows, float[] stream, int first, Share.Range range) {
    int size = weights.model().embedding();
    for (int i = range.from(); i < range.to(); i++) {
      VectorMath.norm(
          new VectorMath.Part(stream, rows.sampled()[first + i] * size),
          weights.outputNorm(),
          weights.model().normEpsilon(),
          new VectorMath.Part(normed.values, normed.row(i)));
      normed.quantise(i);
    }
  }

  private SampledToken sample(StepRows rows, int row, int inLogits, int thread) {
    int at = inLogits * weights.output().stride();
    softcap(at);
    Slice slice = rows.slice(row);
    int position = rows.positions()[row] + 1;
    int[] tokens = slice.sampling().hasPenalties() ? before(slice, position) : slice.history();
    Sampler.Before before = new Sampler.Before(tokens, slice.promptLength());
    return samplers[thread].sample(
        new Sampler.Row(logits, at),
        slice.sampling(),
        before,
        position,
        slice.allowedAt(position - 1));
  }

  private void softcap(int at) {
    float cap = weights.model().logitSoftcap();
    for (int i = 0; cap > 0 && i < weights.output().stride(); i += COUNT) {
      VectorMath.softcap(FloatVector.fromArray(FLOATS, logits, at + i), cap)
          .intoArray(logits, at + i);
    }
  }

  /** The history, and the Slice's own tokens before the position. */
  private static int[] before(Slice slice, int position) {
    int own = position - slice.start();
    int[] before = Arrays.copyOf(slice.history(), slice.history().length + own);
    System.arraycopy(slice.tokens(), 0, before, slice.history().length, own);
    return before;
  }
}
