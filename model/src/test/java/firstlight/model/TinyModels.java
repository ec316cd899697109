package firstlight.model;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Models that are small enough for slow devices, with random weights: one Sequence's logits differ
 * from another's, and that is all that they know.
 */
public final class TinyModels {
  public static final int VOCABULARY = 500;
  private static final int EMBEDDING = 256;
  private static final int FEED_FORWARD = 512;
  private static final int HEADS = 6;
  private static final int KV_HEADS = 2;
  private static final int LAYERS = 2;
  private static final int CONTEXT = 2048;

  private final GgufFile file = new GgufFile();
  private final Random random;
  private final String architecture;
  private final int heads;
  private final int headSize;

  private TinyModels(String architecture, int heads, int headSize, long seed) {
    this.architecture = architecture;
    this.heads = heads;
    this.headSize = headSize;
    random = new Random(seed);
  }

  /** A llama with heads of 64. */
  public static Path llama(Path folder, long seed) {
    return llama(folder, HEADS, seed);
  }

  /** The same with so many heads. */
  public static Path llama(Path folder, int heads, long seed) {
    TinyModels tiny = new TinyModels("llama", heads, 64, seed);
    tiny.keys();
    tiny.tensors();
    return tiny.file.write(folder);
  }

  /** A gemma3 with heads of 32, whose first layer sees 40 positions. */
  public static Path gemma3(Path folder, long seed) {
    TinyModels tiny = new TinyModels("gemma3", HEADS, 32, seed);
    tiny.keys();
    tiny.integer("attention.key_length", 32);
    tiny.integer("attention.value_length", 32);
    tiny.integer("attention.sliding_window", 40);
    tiny.integer("attention.sliding_window_pattern", 2);
    tiny.tensors();
    for (int layer = 0; layer < LAYERS; layer++) {
      String name = "blk." + layer + ".";
      tiny.norm(name + "attn_q_norm", 32);
      tiny.norm(name + "attn_k_norm", 32);
      tiny.norm(name + "post_attention_norm", EMBEDDING);
      tiny.norm(name + "post_ffw_norm", EMBEDDING);
    }
    return tiny.file.write(folder);
  }

  private void integer(String key, int value) {
    file.integer(architecture + "." + key, value);
  }

  private void keys() {
    file.string("general.architecture", architecture);
    integer("block_count", LAYERS);
    integer("context_length", CONTEXT);
    integer("embedding_length", EMBEDDING);
    integer("feed_forward_length", FEED_FORWARD);
    integer("attention.head_count", heads);
    integer("attention.head_count_kv", KV_HEADS);
    if (architecture.equals("llama")) {
      integer("attention.key_length", headSize);
      integer("attention.value_length", headSize);
      integer("rope.dimension_count", headSize);
    }
    file.number(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
    file.strings(
        "tokenizer.ggml.tokens",
        IntStream.range(0, VOCABULARY).mapToObj(i -> "t" + i).toArray(String[]::new));
  }

  private void tensors() {
    int queries = heads * headSize;
    int kvHeads = KV_HEADS * headSize;
    matrix("token_embd", EMBEDDING, VOCABULARY, 1);
    matrix("output", EMBEDDING, VOCABULARY, 3);
    norm("output_norm", EMBEDDING);
    for (int layer = 0; layer < LAYERS; layer++) {
      String name = "blk." + layer + ".";
      norm(name + "attn_norm", EMBEDDING);
      norm(name + "ffn_norm", EMBEDDING);
      matrix(name + "attn_q", EMBEDDING, queries, 1);
      matrix(name + "attn_k", EMBEDDING, kvHeads, 1);
      matrix(name + "attn_v", EMBEDDING, kvHeads, 1);
      matrix(name + "attn_output", queries, EMBEDDING, 1);
      matrix(name + "ffn_gate", EMBEDDING, FEED_FORWARD, 1);
      matrix(name + "ffn_up", EMBEDDING, FEED_FORWARD, 1);
      matrix(name + "ffn_down", FEED_FORWARD, EMBEDDING, 1);
    }
  }

  /** Numbers that bf16 has, so that no device rounds them. */
  private void matrix(String name, int columns, int rows, double size) {
    ByteBuffer data = GgufFile.little(columns * rows * Short.BYTES);
    double scale = size / Math.sqrt(columns);
    for (int i = 0; i < columns * rows; i++) {
      float weight = (float) (random.nextGaussian() * scale);
      data.putShort((short) (Float.floatToRawIntBits(weight) >> 16));
    }
    file.tensor(
        name + ".weight", TensorType.BF16.number(), new long[] {columns, rows}, -1, data.array());
  }

  private void norm(String name, int size) {
    ByteBuffer data = GgufFile.little(size * Float.BYTES);
    for (int i = 0; i < size; i++) {
      data.putFloat(1 + (float) random.nextGaussian() / 8);
    }
    file.tensor(name + ".weight", TensorType.F32.number(), new long[] {size}, -1, data.array());
  }
}
