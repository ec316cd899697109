package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.List;
import java.util.stream.IntStream;

/** What a model takes on a GPU beside keys and values, as far as that is known beforehand. */
final class CudaNeed {
  private CudaNeed() {}

  static long bytes(ModelFile file, GpuConfig config) {
    Hyperparameters model = file.hyperparameters();
    CudaConfig.Weights choice = config.cuda().weights();
    int shares = config.cuda().tensorParallel();
    long weights =
        file.tensors().stream()
            .mapToLong(
                tensor -> bytes(tensor, choice) / (tensor.name().startsWith("blk.") ? shares : 1))
            .sum();
    int positions = CudaShape.contextMax(model, config);
    Hyperparameters ours = new Shard(0, shares).of(model);
    CudaShape smallest = CudaShape.of(ours, config, 1);
    return weights + turns(file, model, positions) + CudaBuffers.bytes(ours, smallest, shares > 1);
  }

  private static long bytes(Tensor tensor, CudaConfig.Weights choice) {
    if (tensor.rows() == 1) {
      return (long) tensor.columns() * Float.BYTES;
    }
    CudaWeightType asInFile = CudaWeightType.of(tensor.type()).orElse(CudaWeightType.BF16);
    return switch (choice) {
      case FILE -> tensor.rows() * asInFile.rowBytes(tensor.columns());
      case BF16 -> tensor.rows() * CudaWeightType.BF16.rowBytes(tensor.columns());
      case FP8 -> tensor.rows() * (CudaWeightType.FP8.rowBytes(tensor.columns()) + Float.BYTES);
    };
  }

  /** The tables of cosines and sines, of which layers that turn alike share one. */
  private static long turns(ModelFile file, Hyperparameters model, int positions) {
    List<float[]> frequencies =
        IntStream.range(0, model.layers()).mapToObj(file::ropeFrequencies).toList();
    return RotaryEmbedding.ofLayers(frequencies, ofLayer -> ofLayer).stream()
        .distinct()
        .mapToLong(ofLayer -> 2L * positions * ofLayer.length * Float.BYTES)
        .sum();
  }
}
