package firstlight.model;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Checks that a file has the tensors its architecture needs, each in its shape, and no other: a
 * tensor that nobody reads (a bias, an adapter) would mean wrong answers.
 */
final class TensorCheck {
  private final ModelFile file;
  private final Hyperparameters model;
  private final Set<String> known = new HashSet<>();

  TensorCheck(ModelFile file, Hyperparameters model) {
    this.file = file;
    this.model = model;
  }

  void check() {
    require("token_embd.weight", model.embedding(), model.vocabulary());
    vector("output_norm.weight", model.embedding());
    if (!model.tiedEmbeddings()) {
      require("output.weight", model.embedding(), model.vocabulary());
    }
    for (int layer = 0; layer < model.layers(); layer++) {
      checkLayer("blk." + layer + ".");
    }
    if (model.ropeInterleaved() && file.find(RopeFrequencies.FACTORS).isPresent()) {
      vector(RopeFrequencies.FACTORS, model.ropeDimensions() / 2);
    }
    refuseUnknown();
  }

  private void checkLayer(String layer) {
    int queries = model.heads() * model.headSize();
    int keys = model.kvHeads() * model.headSize();
    vector(layer + "attn_norm.weight", model.embedding());
    require(layer + "attn_q.weight", model.embedding(), queries);
    require(layer + "attn_k.weight", model.embedding(), keys);
    require(layer + "attn_v.weight", model.embedding(), keys);
    require(layer + "attn_output.weight", queries, model.embedding());
    vector(layer + "ffn_norm.weight", model.embedding());
    require(layer + "ffn_gate.weight", model.embedding(), model.feedForward());
    require(layer + "ffn_up.weight", model.embedding(), model.feedForward());
    require(layer + "ffn_down.weight", model.feedForward(), model.embedding());
    if (model.architecture().equals("gemma3")) {
      vector(layer + "attn_q_norm.weight", model.headSize());
      vector(layer + "attn_k_norm.weight", model.headSize());
      vector(layer + "post_attention_norm.weight", model.embedding());
      vector(layer + "post_ffw_norm.weight", model.embedding());
    }
  }

  private void vector(String name, long size) {
    require(name, size);
    TensorType type = file.tensor(name).type();
    if (type.blockElements() != 1) {
      throw new InvalidModelFile(
          file.path(), "tensor '%s' is a vector of type %s".formatted(name, type));
    }
  }

  private void require(String name, long... shape) {
    known.add(name);
    long[] is = file.tensor(name).shape();
    if (!Arrays.equals(is, shape)) {
      throw new InvalidModelFile(
          file.path(),
          "tensor '%s' has the shape %s, but must have %s"
              .formatted(name, Arrays.toString(is), Arrays.toString(shape)));
    }
  }

  private void refuseUnknown() {
    for (Tensor tensor : file.tensors()) {
      if (!known.contains(tensor.name())) {
        throw new InvalidModelFile(
            file.path(),
            "tensor %s is not part of the architecture %s as it is supported"
                .formatted(InvalidModelFile.shown(tensor.name()), model.architecture()));
      }
    }
  }
}
