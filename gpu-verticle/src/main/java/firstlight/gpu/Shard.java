package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The share of a model that one GPU of several computes: some heads of the attention and some of
 * the feed-forward part's width, so that two sums over all GPUs are made in each layer (Shoeybi et
 * al., Megatron-LM, 2019). Everything else each GPU does for itself.
 *
 * @param rank which of them, from 0
 * @param count of GPUs; a power of two up to {@link CudaMatrix#RANGES}
 */
record Shard(int rank, int count) {
  static final Shard WHOLE = new Shard(0, 1);

  /** Columns that products take at a time. */
  private static final int CHUNK = 32;

  /** Neighbouring rows or columns. */
  record Span(int first, int count) {}

  static boolean isCount(int count) {
    return Integer.bitCount(count) == 1 && count <= CudaMatrix.RANGES;
  }

  boolean isWhole() {
    return count == 1;
  }

  /** Whether this GPU makes the tokens. */
  boolean isFirst() {
    return rank == 0;
  }

  /** Its share of rows or columns. */
  Span of(int whole) {
    int each = whole / count;
    return new Span(rank * each, each);
  }

  /** Its KV heads. Where there are fewer than GPUs, several GPUs have the same one. */
  Span kvHeads(Hyperparameters model) {
    int first = rank * model.kvHeads() / count;
    return new Span(first, Math.max(1, model.kvHeads() / count));
  }

  /** The model as this GPU computes it. */
  Hyperparameters of(Hyperparameters model) {
    return new Hyperparameters(
        model.architecture(),
        model.layers(),
        model.embedding(),
        model.feedForward() / count,
        model.heads() / count,
        kvHeads(model).count,
        model.headSize(),
        model.contextLength(),
        model.vocabulary(),
        model.normEpsilon(),
        model.ropeBase(),
        model.ropeBaseLocal(),
        model.ropeScale(),
        model.ropeDimensions(),
        model.ropeScaling(),
        model.slidingWindow(),
        model.slidingPattern(),
        model.attentionScale(),
        model.embeddingScale(),
        model.logitSoftcap(),
        model.attentionSoftcap(),
        model.tiedEmbeddings());
  }

  /**
   * Whether a model's file can be shared out.
   *
   * @throws UnsupportedOperationException it can not; the message says what can
   */
  static void requireShares(ModelFile file, int count) {
    Optional<String> problem = problem(file, count);
    if (problem.isPresent()) {
      List<Integer> possible =
          Stream.iterate(1, Shard::isCount, each -> 2 * each)
              .filter(each -> problem(file, each).isEmpty())
              .toList();
      throw new UnsupportedOperationException(
          "the model can not be shared by %d GPUs: %s; gpu.cuda.tensorParallel may be one of %s"
              .formatted(count, problem.get(), possible));
    }
  }

  private static Optional<String> problem(ModelFile file, int count) {
    Hyperparameters model = file.hyperparameters();
    if (model.heads() % count != 0) {
      return Optional.of("it has %d heads".formatted(model.heads()));
    }
    if (model.kvHeads() % count != 0 && count % model.kvHeads() != 0) {
      return Optional.of("it has %d KV heads".formatted(model.kvHeads()));
    }
    return file.tensors().stream()
        .filter(tensor -> isCutAcross(tensor.name()))
        .flatMap(tensor -> columnsProblem(tensor, count).stream())
        .findFirst();
  }

  /** Whether shares are columns of it, not rows. */
  private static boolean isCutAcross(String name) {
    return name.endsWith(".attn_output.weight") || name.endsWith(".ffn_down.weight");
  }

  private static Optional<String> columnsProblem(Tensor tensor, int count) {
    int unit = Math.max(CHUNK, tensor.type().blockElements());
    return tensor.columns() % (unit * count) == 0
        ? Optional.empty()
        : Optional.of(
            "%s has %d columns in blocks of %d".formatted(tensor.name(), tensor.columns(), unit));
  }
}
