package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One layer of a transformer. Norms that an architecture does not have are null.
 *
 * @param queryNorm on each head of the query, as {@code keyNorm} on the key's
 * @param attentionPostNorm on the output of the attention, before it is added
 * @param feedForwardPostNorm on the output of the feed-forward part, before it is added
 */
record LayerWeights(
    float[] attentionNorm,
    Matrix query,
    Matrix key,
    Matrix value,
    float @Nullable [] queryNorm,
    float @Nullable [] keyNorm,
    Matrix output,
    float @Nullable [] attentionPostNorm,
    float[] feedForwardNorm,
    Matrix gate,
    Matrix up,
    Matrix down,
    float @Nullable [] feedForwardPostNorm) {

  static LayerWeights load(ModelFile file, int layer, MatrixPacker packer) {
    Hyperparameters model = file.hyperparameters();
    IntUnaryOperator order =
        model.ropeInterleaved()
            ? row -> RotaryEmbedding.neighbour(row, model.headSize(), model.ropeDimensions())
            : IntUnaryOperator.identity();
    Names names = new Names(file, "blk." + layer + ".");
    return new LayerWeights(
        MatrixPacker.vector(names.tensor("attn_norm")),
        packer.pack(names.tensor("attn_q"), order),
        packer.pack(names.tensor("attn_k"), order),
        packer.pack(names.tensor("attn_v")),
        names.vector("attn_q_norm"),
        names.vector("attn_k_norm"),
        packer.pack(names.tensor("attn_output")),
        names.vector("post_attention_norm"),
        MatrixPacker.vector(names.tensor("ffn_norm")),
        packer.pack(names.tensor("ffn_gate")),
        packer.pack(names.tensor("ffn_up")),
        packer.pack(names.tensor("ffn_down")),
        names.vector("post_ffw_norm"));
  }

  private record Names(ModelFile file, String prefix) {
    Tensor tensor(String name) {
      return file.tensor(prefix + name + ".weight");
    }

    float @Nullable [] vector(String name) {
      return file.find(prefix + name + ".weight").map(MatrixPacker::vector).orElse(null);
    }
  }
}
