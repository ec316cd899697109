package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A model on a GPU, or this GPU's share of it: nothing of the file is needed any more.
 *
 * @param model as this GPU computes it
 * @param turns of each layer: addresses of {@code [position][pair]} cosine and sine
 * @param outputNorm an address
 * @param output equal to the embedding where the file ties them; of no use but on the first GPU
 */
record CudaWeights(
    Hyperparameters model,
    CudaMatrix embedding,
    List<Layer> layers,
    List<Long> turns,
    long outputNorm,
    CudaMatrix output) {

  /** One layer. Norms are addresses; those that an architecture does not have are 0. */
  record Layer(
      long attentionNorm,
      CudaMatrix query,
      CudaMatrix key,
      CudaMatrix value,
      long queryNorm,
      long keyNorm,
      CudaMatrix output,
      long attentionPostNorm,
      long feedForwardNorm,
      CudaMatrix gate,
      CudaMatrix up,
      CudaMatrix down,
      long feedForwardPostNorm) {
    Stream<CudaMatrix> matrices() {
      return Stream.of(query, key, value, output, gate, up, down);
    }
  }

  /** The matrices that tokens are multiplied with. */
  List<CudaMatrix> multiplied() {
    return Stream.concat(layers.stream().flatMap(Layer::matrices), Stream.of(output)).toList();
  }

  /**
   * @param positions how long a Sequence can become
   */
  static CudaWeights load(
      ModelFile file, Gpu gpu, CudaConfig.Weights choice, int positions, Shard shard) {
    Hyperparameters model = file.hyperparameters();
    List<float[]> frequencies =
        IntStream.range(0, model.layers()).mapToObj(file::ropeFrequencies).toList();
    long bytes =
        file.tensors().stream().mapToLong(tensor -> tensor.data().byteSize()).sum() / shard.count();
    try (WeightUpload upload = new WeightUpload(gpu, choice, bytes)) {
      CudaMatrix embedding = upload.matrix(file.tensor("token_embd.weight"));
      List<Layer> layers = new ArrayList<>();
      for (int layer = 0; layer < model.layers(); layer++) {
        layers.add(layer(new Names(file, "blk." + layer + ".", upload, shard)));
      }
      Optional<Tensor> output =
          model.tiedEmbeddings() || !shard.isFirst()
              ? Optional.empty()
              : file.find("output.weight");
      return new CudaWeights(
          shard.of(model),
          embedding,
          List.copyOf(layers),
          turns(frequencies, upload, positions),
          upload.vector(file.tensor("output_norm.weight")),
          output.map(upload::matrix).orElse(embedding));
    }
  }

  private static Layer layer(Names names) {
    return new Layer(
        names.vector("attn_norm"),
        names.heads("attn_q", names.shard.of(names.model().heads())),
        names.heads("attn_k", names.shard.kvHeads(names.model())),
        names.heads("attn_v", names.shard.kvHeads(names.model())),
        names.vector("attn_q_norm"),
        names.vector("attn_k_norm"),
        names.columns("attn_output"),
        names.vector("post_attention_norm"),
        names.vector("ffn_norm"),
        names.rows("ffn_gate"),
        names.rows("ffn_up"),
        names.columns("ffn_down"),
        names.vector("post_ffw_norm"));
  }

  private record Names(ModelFile file, String prefix, WeightUpload upload, Shard shard) {
    Hyperparameters model() {
      return file.hyperparameters();
    }

    private Tensor tensor(String name) {
      return file.tensor(prefix + name + ".weight");
    }

    CudaMatrix rows(String name) {
      Tensor tensor = tensor(name);
      return upload.rows(tensor, shard.of(Math.toIntExact(tensor.rows())));
    }

    CudaMatrix heads(String name, Shard.Span heads) {
      int size = model().headSize();
      return upload.rows(tensor(name), new Shard.Span(heads.first() * size, heads.count() * size));
    }

    CudaMatrix columns(String name) {
      return upload.columns(tensor(name), shard);
    }

    /** 0 where there is none: what a model must have was checked when its file was opened. */
    long vector(String name) {
      return file.find(prefix + name + ".weight").map(upload::vector).orElse(0L);
    }
  }

  /**
   * Layers that turn alike share one table.
   *
   * @param frequencies of each layer
   */
  static List<Long> turns(List<float[]> frequencies, WeightUpload upload, int positions) {
    return RotaryEmbedding.ofLayers(
        frequencies, ofLayer -> upload.floats(table(ofLayer, positions), "rotations"));
  }

  private static float[] table(float[] frequencies, int positions) {
    float[] table = new float[Math.multiplyExact(2 * positions, frequencies.length)];
    for (int position = 0; position < positions; position++) {
      for (int i = 0; i < frequencies.length; i++) {
        double angle = (double) position * frequencies[i];
        int at = 2 * (position * frequencies.length + i);
        table[at] = (float) StrictMath.cos(angle);
        table[at + 1] = (float) StrictMath.sin(angle);
      }
    }
    return table;
  }
}
