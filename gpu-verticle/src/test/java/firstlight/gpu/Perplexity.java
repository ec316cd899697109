package firstlight.gpu;

import firstlight.model.Model;
import firstlight.model.ModelFile;
import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What the whole distributions of a model are worth on a text: perplexity, and the divergence of
 * one device's distributions from another's. The text is cut into windows, each a Sequence of its
 * own that begins with the beginning-of-text token where the model wants one; the second half of a
 * window is scored.
 */
final class Perplexity implements AutoCloseable {
  static final int WINDOW = 512;
  private static final int FIRST = WINDOW / 2;
  private static final int BLOCK_TOKENS = 16;

  private final ModelWeights weights;
  private final KvMemory memory;
  private final Transformer transformer;
  private final DeviceThreads threads;
  private final Activations normed;

  Perplexity(ModelFile file, GpuConfig.Kernels kernels) {
    GpuConfig config = TestDevices.config(kernels, 2, BLOCK_TOKENS);
    DeviceShape shape = DeviceShape.of(file.hyperparameters(), config);
    weights = ModelWeights.load(file, kernels, false, shape.contextMax());
    memory = new KvMemory(shape.kv(), shape.blocks());
    transformer = new Transformer(weights, memory, shape);
    threads = new DeviceThreads("perplexity", shape.threads());
    normed = new Activations(WINDOW, weights.model().embedding(), weights.output().forms());
  }

  /** The tokens of each whole window. */
  static int[][] windows(Model model, String text) {
    int[] tokens = model.tokenizer().encodePrompt(text);
    int[][] windows = new int[tokens.length / WINDOW][];
    for (int i = 0; i < windows.length; i++) {
      windows[i] = Arrays.copyOfRange(tokens, i * WINDOW, (i + 1) * WINDOW);
      if (model.tokenizer().bos().isPresent() && tokens[0] == model.tokenizer().bos().getAsInt()) {
        windows[i][0] = tokens[0];
      }
    }
    return windows;
  }

  /** Log-probabilities of every token after each scored position of a window. */
  float[][] logprobs(int[] window) {
    Slice slice = Steps.slice("text", window, 0, Steps.blocks(0, WINDOW / BLOCK_TOKENS), 0);
    StepRows rows = StepRows.of(new RunStep(1, List.of(slice)));
    AttentionPhase.Plans plans = transformer.plans(rows);
    int scored = WINDOW - 1 - FIRST;
    float[] logits = new float[scored * weights.output().stride()];
    threads.run(
        transformer.phases() + 2,
        turn -> {
          transformer.run(rows, plans, turn);
          turn.together(share -> normalise(share, scored));
          turn.together(share -> weights.output().multiply(normed, scored, logits, share));
        });
    float[][] logprobs = new float[scored][];
    for (int i = 0; i < scored; i++) {
      int at = i * weights.output().stride();
      logprobs[i] = Arrays.copyOfRange(logits, at, at + weights.model().vocabulary());
      softmax(logprobs[i]);
    }
    return logprobs;
  }

  private void normalise(Share share, int scored) {
    int size = weights.model().embedding();
    for (int i = share.from(scored); i < share.to(scored); i++) {
      VectorMath.norm(
          new VectorMath.Part(transformer.stream(), (FIRST + i) * size),
          weights.outputNorm(),
          weights.model().normEpsilon(),
          new VectorMath.Part(normed.values, normed.row(i)));
      normed.quantise(i);
    }
  }

  private void softmax(float[] logits) {
    float cap = weights.model().logitSoftcap();
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < logits.length; i++) {
      logits[i] = cap == 0 ? logits[i] : (float) (cap * Math.tanh(logits[i] / cap));
      max = Math.max(max, logits[i]);
    }
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit - max);
    }
    float total = (float) (max + Math.log(sum));
    for (int i = 0; i < logits.length; i++) {
      logits[i] -= total;
    }
  }

  /** Sums over positions. */
  static final class Figures {
    private int positions;
    private double surprise;
    private double surpriseOfOther;
    private double divergence;
    private int sameBest;

    /**
     * @param ours of each scored position of the window
     * @param truth the same of the device that is measured against
     */
    void add(int[] window, float[][] ours, float[][] truth) {
      for (int i = 0; i < ours.length; i++) {
        int next = window[FIRST + i + 1];
        positions++;
        surprise -= ours[i][next];
        surpriseOfOther -= truth[i][next];
        divergence += divergence(truth[i], ours[i]);
        sameBest += best(ours[i]) == best(truth[i]) ? 1 : 0;
      }
    }

    double perplexity() {
      return Math.exp(surprise / positions);
    }

    double truePerplexity() {
      return Math.exp(surpriseOfOther / positions);
    }

    /** The mean Kullback–Leibler divergence from the truth. */
    double meanDivergence() {
      return divergence / positions;
    }

    private static double divergence(float[] truth, float[] ours) {
      double sum = 0;
      for (int i = 0; i < truth.length; i++) {
        sum += Math.exp(truth[i]) * (truth[i] - ours[i]);
      }
      return sum;
    }

    private static int best(float[] logprobs) {
      int best = 0;
      for (int i = 1; i < logprobs.length; i++) {
        best = logprobs[i] > logprobs[best] ? i : best;
      }
      return best;
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d positions; perplexity %.3f, of float32 %.3f; mean divergence from it %.5f; same best"
              + " token %.1f %%",
          positions,
          perplexity(),
          truePerplexity(),
          meanDivergence(),
          100.0 * sameBest / positions);
    }
  }

  @Override
  public void close() {
    threads.close();
    memory.close();
  }
}
