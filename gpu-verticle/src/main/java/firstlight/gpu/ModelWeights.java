package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A whole model, packed: nothing of the file is needed any more.
 *
 * @param output equal to the embedding where the file ties them
 * @param rotations of each layer; layers that turn alike share one
 */
record ModelWeights(
    Hyperparameters model,
    Matrix embedding,
    List<LayerWeights> layers,
    List<RotaryEmbedding> rotations,
    float[] outputNorm,
    Matrix output) {
  ModelWeights {
    layers = List.copyOf(layers);
    rotations = List.copyOf(rotations);
  }

  /**
   * @param natively whether native kernels multiply
   * @param positions how long a Sequence can become
   */
  static ModelWeights load(
      ModelFile file, GpuConfig.Kernels kernels, boolean natively, int positions) {
    Hyperparameters model = file.hyperparameters();
    MatrixPacker packer = new MatrixPacker(kernels, natively);
    Matrix embedding = packer.pack(file.tensor("token_embd.weight"));
    List<LayerWeights> layers = new ArrayList<>();
    for (int layer = 0; layer < model.layers(); layer++) {
      layers.add(LayerWeights.load(file, layer, packer));
    }
    Optional<Tensor> output =
        model.tiedEmbeddings() ? Optional.empty() : file.find("output.weight");
    return new ModelWeights(
        model,
        embedding,
        layers,
        RotaryEmbedding.ofLayers(
            IntStream.range(0, model.layers()).mapToObj(file::ropeFrequencies).toList(),
            frequencies -> new RotaryEmbedding(frequencies, positions)),
        MatrixPacker.vector(file.tensor("output_norm.weight")),
        output.map(packer::pack).orElse(embedding));
  }
}
