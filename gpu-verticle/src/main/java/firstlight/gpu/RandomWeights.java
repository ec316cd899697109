package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.model.Hyperparameters;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Weights that know nothing, made on the GPU itself: for measuring models whose files are not
 * there. They are the same for every GPU. What {@link CudaConfig.Weights#FILE} means here is Q8_0.
 */
record RandomWeights(Hyperparameters model, long seed) implements CudaWeightSource {
  /** The standard deviation of bytes whose bits are random. */
  private static final double BYTE_DEVIATION = 73.9;

  @Override
  public String digest() {
    return "random-" + seed;
  }

  @Override
  public CudaWeights bring(Gpu gpu, CudaConfig.Weights choice, int positions, Shard shard) {
    if (!shard.isWhole()) {
      throw new UnsupportedOperationException("random weights are not shared out");
    }
    try (WeightUpload upload = new WeightUpload(gpu, choice, 0)) {
      Maker maker = new Maker(gpu, upload, type(choice), seed);
      int width = model.embedding();
      CudaMatrix embedding = maker.matrix(model.vocabulary(), width, 1);
      List<CudaWeights.Layer> layers = new ArrayList<>();
      for (int i = 0; i < model.layers(); i++) {
        layers.add(layer(maker));
      }
      return new CudaWeights(
          model,
          embedding,
          List.copyOf(layers),
          CudaWeights.turns(Collections.nCopies(model.layers(), frequencies()), upload, positions),
          maker.ones(width),
          maker.matrix(model.vocabulary(), width));
    }
  }

  private static CudaWeightType type(CudaConfig.Weights choice) {
    return switch (choice) {
      case FILE -> CudaWeightType.Q8_0;
      case BF16 -> CudaWeightType.BF16;
      case FP8 -> CudaWeightType.FP8;
    };
  }

  private CudaWeights.Layer layer(Maker maker) {
    int width = model.embedding();
    int queries = model.heads() * model.headSize();
    int keys = model.kvHeads() * model.headSize();
    return new CudaWeights.Layer(
        maker.ones(width),
        maker.matrix(queries, width),
        maker.matrix(keys, width),
        maker.matrix(keys, width),
        0,
        0,
        maker.matrix(width, queries),
        0,
        maker.ones(width),
        maker.matrix(model.feedForward(), width),
        maker.matrix(model.feedForward(), width),
        maker.matrix(width, model.feedForward()),
        0);
  }

  private float[] frequencies() {
    int pairs = model.ropeDimensions() / 2;
    float[] frequencies = new float[pairs];
    for (int i = 0; i < pairs; i++) {
      frequencies[i] = (float) Math.pow(model.ropeBase(), -(double) i / pairs);
    }
    return frequencies;
  }

  /** A matrix of a type with random weights of a standard deviation. */
  static CudaMatrix matrix(
      Gpu gpu, WeightUpload upload, CudaWeightType type, int[] size, long seed, double deviation) {
    boolean isNarrowed = type == CudaWeightType.FP8;
    CudaWeightType filled = isNarrowed ? CudaWeightType.BF16 : type;
    long rowBytes = filled.rowBytes(size[1]);
    DeviceMemory memory = gpu.allocate(size[0] * rowBytes, "random weights");
    CudaMatrix raw = new CudaMatrix(memory.address(), 0, filled, size[0], size[1], rowBytes);
    KernelArguments.Fill fill =
        filled == CudaWeightType.BF16
            ? KernelArguments.Fill.numbers(
                KernelArguments.FillKind.BF16,
                raw.address(),
                (long) raw.rows() * raw.columns(),
                seed,
                deviation)
            : KernelArguments.Fill.blocks(raw, seed, deviation / BYTE_DEVIATION);
    gpu.stream().launch(new Kernels(gpu).fill(fill));
    return isNarrowed ? upload.converted(raw, type) : raw;
  }

  /** Makes one part after another, each from a seed of its own. */
  private static final class Maker {
    private final Gpu gpu;
    private final WeightUpload upload;
    private final CudaWeightType type;
    private long seed;

    Maker(Gpu gpu, WeightUpload upload, CudaWeightType type, long seed) {
      this.gpu = gpu;
      this.upload = upload;
      this.type = type;
      this.seed = seed;
    }

    /** Such that numbers stay as large as they are. */
    CudaMatrix matrix(int rows, int columns) {
      return matrix(rows, columns, 1 / Math.sqrt(columns));
    }

    CudaMatrix matrix(int rows, int columns, double deviation) {
      seed += 1L << 40;
      return RandomWeights.matrix(gpu, upload, type, new int[] {rows, columns}, seed, deviation);
    }

    long ones(int size) {
      float[] ones = new float[size];
      Arrays.fill(ones, 1);
      return upload.floats(ones, "norms");
    }
  }
}
