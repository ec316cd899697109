package firstlight.model;

import java.util.Optional;

/**
 * What a model is, as its file says.
 *
 * @param architecture llama or gemma3
 * @param layers number of transformer blocks
 * @param embedding width of the residual stream
 * @param feedForward width inside the feed-forward part
 * @param heads query heads
 * @param kvHeads key/value heads; divides {@code heads}
 * @param headSize width of one head: of query, key and value alike
 * @param contextLength positions the model was trained for
 * @param vocabulary rows of the embedding, hence logits
 * @param normEpsilon of the root-mean-square norms
 * @param ropeBase base of the rotary frequencies; in gemma3, of the global layers
 * @param ropeBaseLocal the same for gemma3's local layers; otherwise equal to {@code ropeBase}
 * @param ropeScale factor on positions ("linear" scaling, 1 / the file's factor), for global layers
 *     only; 1: none
 * @param ropeDimensions elements of a head that are rotated, the first ones; even
 * @param ropeScaling Llama 3's scaling by wavelength, where the metadata describes it
 * @param slidingWindow positions a local layer sees, its own included; 0: all layers are global
 * @param slidingPattern every n-th layer is global, the others local; 0: all are global
 * @param attentionScale factor on query-key products
 * @param embeddingScale factor on embedded tokens
 * @param logitSoftcap c in c tanh(x / c) on the logits; 0: none
 * @param attentionSoftcap the same on scaled query-key products
 * @param tiedEmbeddings whether the output matrix is the embedding matrix
 */
public record Hyperparameters(
    String architecture,
    int layers,
    int embedding,
    int feedForward,
    int heads,
    int kvHeads,
    int headSize,
    int contextLength,
    int vocabulary,
    float normEpsilon,
    float ropeBase,
    float ropeBaseLocal,
    float ropeScale,
    int ropeDimensions,
    Optional<RopeScaling> ropeScaling,
    int slidingWindow,
    int slidingPattern,
    float attentionScale,
    float embeddingScale,
    float logitSoftcap,
    float attentionSoftcap,
    boolean tiedEmbeddings) {

  /** Whether a layer sees only the last {@link #slidingWindow} positions. */
  public boolean isLocal(int layer) {
    return slidingWindow > 0 && slidingPattern > 0 && (layer + 1) % slidingPattern != 0;
  }

  /**
   * Which elements of a head rotate together: in llama files neighbours (2i, 2i + 1), in gemma3
   * files the halves (i, i + ropeDimensions / 2).
   */
  public boolean ropeInterleaved() {
    return architecture.equals("llama");
  }
}
