package firstlight.gpu;

import firstlight.model.Hyperparameters;
import java.util.List;
import java.util.Optional;

/**
 * How large things are that are measured: as in a model of eight billion weights, or tiny where the
 * GPU is simulated.
 *
 * @param isSimulated whether times mean nothing, so that once is enough
 * @param sweepBytes of weights and keys that are gone through, so that no cache holds them
 * @param square rows and columns of a product of many tokens
 * @param copyBytes that are copied at a time
 */
record CheckSizes(
    boolean isSimulated,
    long copyBytes,
    long sweepBytes,
    int square,
    List<Integer> manyTokens,
    List<Integer> fewTokens,
    int productColumns,
    Attention attention,
    Sequences sequences,
    Hyperparameters model) {

  /**
   * Sequences that attend.
   *
   * @param chunk tokens of a prompt in one Step
   * @param prompt that the chunk is the end of
   */
  record Attention(List<Integer> batches, List<Integer> contexts, int chunk, int prompt) {}

  /**
   * Sequences of the whole model.
   *
   * @param context that those who decode have
   * @param prompt that is prefilled
   * @param firstPrompt whose first token is waited for
   */
  record Sequences(
      List<Integer> batches, int context, int chunk, int prompt, int firstPrompt, int steps) {
    int batchMax() {
      return batches.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }
  }

  static CheckSizes full() {
    return new CheckSizes(
        false,
        2L << 30,
        1L << 30,
        4096,
        List.of(64, 512, 4096),
        List.of(1, 8, 32),
        4096,
        new Attention(List.of(1, 32, 256), List.of(1024, 8192, 32768), 512, 4096),
        new Sequences(List.of(1, 32, 256), 1024, 512, 4096, 2048, 24),
        llama(32, 4096, 14336, 32, 8, 128256));
  }

  static CheckSizes small(boolean isSimulated) {
    return new CheckSizes(
        isSimulated,
        1 << 20,
        1 << 16,
        256,
        List.of(64, 128),
        List.of(1, 8, 32),
        768,
        new Attention(List.of(1, 2), List.of(40, 300), 16, 64),
        new Sequences(List.of(1, 2, 4), 40, 16, 64, 48, 2),
        llama(2, 256, 512, 4, 2, 512));
  }

  /** A model of the architecture llama; heads share the width. */
  static Hyperparameters llama(
      int layers, int width, int feedForward, int heads, int kvHeads, int vocabulary) {
    int headSize = width / heads;
    return new Hyperparameters(
        "llama",
        layers,
        width,
        feedForward,
        heads,
        kvHeads,
        headSize,
        1 << 17,
        vocabulary,
        1e-5f,
        500_000,
        500_000,
        1,
        headSize,
        Optional.empty(),
        0,
        0,
        (float) (1 / Math.sqrt(headSize)),
        1,
        0,
        0,
        false);
  }
}
