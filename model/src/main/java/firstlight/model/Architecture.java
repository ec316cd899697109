package firstlight.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads {@link Hyperparameters} out of a file's metadata: keys begin with the architecture's name.
 * Every value is checked for sense, so that whoever calculates with it need not.
 */
final class Architecture {
  static final List<String> SUPPORTED = List.of("llama", "gemma3");
  private static final int LAYERS_MAX = 1_000;
  private static final int WIDTH_MAX = 1 << 20;
  private static final int CONTEXT_MAX = 1 << 26;
  private static final int VOCABULARY_MAX = 1 << 24;
  private static final double BASE_MAX = 1e12;
  private static final String TOKENS = "tokenizer.ggml.tokens";

  private final String name;
  private final Metadata metadata;

  private Architecture(String name, Metadata metadata) {
    this.name = name;
    this.metadata = metadata;
  }

  static Hyperparameters read(ModelFile file) {
    Metadata metadata = file.metadata();
    String name = metadata.string("general.architecture");
    if (!SUPPORTED.contains(name)) {
      throw new InvalidModelFile(
          file.path(),
          "the architecture %s is not supported; supported are %s"
              .formatted(InvalidModelFile.shown(name), String.join(", ", SUPPORTED)));
    }
    Hyperparameters read = new Architecture(name, metadata).read(file.find("output.weight"));
    new TensorCheck(file, read).check();
    return read;
  }

  private Hyperparameters read(Optional<Tensor> output) {
    refuseExperts();
    int embedding = required("embedding_length", WIDTH_MAX);
    int heads = required("attention.head_count", WIDTH_MAX);
    int layers = required("block_count", LAYERS_MAX);
    int headSize = headSize(embedding, heads);
    boolean gemma = name.equals("gemma3");
    float base = positive("rope.freq_base", gemma ? 1e6 : 1e4, BASE_MAX);
    int window = gemma ? optional("attention.sliding_window", 0, CONTEXT_MAX) : 0;
    return new Hyperparameters(
        name,
        layers,
        embedding,
        required("feed_forward_length", WIDTH_MAX),
        heads,
        kvHeads(heads),
        headSize,
        required("context_length", CONTEXT_MAX),
        vocabulary(),
        epsilon(),
        base,
        gemma ? positive("rope.freq_base_swa", 1e4, BASE_MAX) : base,
        ropeScale(),
        ropeDimensions(headSize),
        ropeScaling(),
        window,
        window == 0 ? 0 : optional("attention.sliding_window_pattern", 6, LAYERS_MAX),
        attentionScale(layers, embedding / heads, headSize),
        gemma ? (float) Math.sqrt(embedding) : 1,
        softcap("final_logit_softcapping"),
        softcap("attn_logit_softcapping"),
        output.isEmpty());
  }

  private void refuseExperts() {
    if (metadata.findInteger(key("expert_count")).orElse(0) != 0) {
      throw metadata.invalid(
          key("expert_count"), "is not 0: mixtures of experts are not supported");
    }
  }

  private int headSize(int embedding, int heads) {
    if (!metadata.has(key("attention.key_length")) && embedding % heads != 0) {
      throw metadata.invalid(
          key("attention.head_count"),
          "is %d, which does not divide %d".formatted(heads, embedding));
    }
    int size = optional("attention.key_length", Math.max(1, embedding / heads), WIDTH_MAX);
    if (optional("attention.value_length", size, WIDTH_MAX) != size) {
      throw metadata.invalid(
          key("attention.value_length"),
          "differs from the key length %d: not supported".formatted(size));
    }
    return size;
  }

  private int kvHeads(int heads) {
    int kvHeads = optional("attention.head_count_kv", heads, WIDTH_MAX);
    if (heads % kvHeads != 0) {
      throw metadata.invalid(
          key("attention.head_count_kv"),
          "is %d, which does not divide the %d heads".formatted(kvHeads, heads));
    }
    return kvHeads;
  }

  private int vocabulary() {
    OptionalLong tokens = metadata.count(TOKENS);
    int size = optional("vocab_size", tokens.orElse(0), VOCABULARY_MAX);
    if (tokens.isPresent() && tokens.getAsLong() != size) {
      throw metadata.invalid(
          TOKENS,
          "has %d tokens, but %s is %d".formatted(tokens.getAsLong(), key("vocab_size"), size));
    }
    return size;
  }

  private float epsilon() {
    String key = key("attention.layer_norm_rms_epsilon");
    return inRange(key, metadata.number(key), 0, 1);
  }

  private int ropeDimensions(int headSize) {
    int dimensions = optional("rope.dimension_count", headSize, headSize);
    if (dimensions % 2 != 0) {
      throw metadata.invalid(key("rope.dimension_count"), "is %d, not even".formatted(dimensions));
    }
    return dimensions;
  }

  private float ropeScale() {
    return switch (scalingType()) {
      case "linear" -> 1 / positive("rope.scaling.factor", 0, BASE_MAX);
      case "none", "llama3" -> 1;
      default ->
          throw metadata.invalid(
              key("rope.scaling.type"),
              "is %s; supported are none, linear, llama3"
                  .formatted(InvalidModelFile.shown(scalingType())));
    };
  }

  private Optional<RopeScaling> ropeScaling() {
    if (!scalingType().equals("llama3")) {
      return Optional.empty();
    }
    float low = positive("rope.scaling.low_freq_factor", 1, BASE_MAX);
    float high = positive("rope.scaling.high_freq_factor", 4, BASE_MAX);
    if (high <= low) {
      throw metadata.invalid(
          key("rope.scaling.high_freq_factor"), "is %s, not above %s".formatted(high, low));
    }
    return Optional.of(
        new RopeScaling(
            positive("rope.scaling.factor", 0, BASE_MAX),
            low,
            high,
            required("rope.scaling.original_context_length", CONTEXT_MAX)));
  }

  private String scalingType() {
    return metadata.findString(key("rope.scaling.type")).orElse("none");
  }

  private float attentionScale(int layers, int embeddingPerHead, int headSize) {
    // The 27B model, the only Gemma 3 of 62 layers, scales by another size than its heads'.
    int size = name.equals("gemma3") && layers == 62 ? embeddingPerHead : headSize;
    return positive("attention.scale", 1 / Math.sqrt(size), BASE_MAX);
  }

  private float softcap(String suffix) {
    return metadata.has(key(suffix)) ? positive(suffix, 0, BASE_MAX) : 0;
  }

  /** A number above 0; 0 as {@code otherwise} means that the file must have it. */
  private float positive(String suffix, double otherwise, double max) {
    String key = key(suffix);
    double value =
        otherwise == 0 ? metadata.number(key) : metadata.findNumber(key).orElse(otherwise);
    return inRange(key, value, Float.MIN_NORMAL, max);
  }

  private float inRange(String key, double value, double min, double max) {
    if (!(value >= min && value <= max)) {
      throw metadata.invalid(key, "is %s, but must be from %s to %s".formatted(value, min, max));
    }
    return (float) value;
  }

  private int required(String suffix, int max) {
    return inRange(key(suffix), metadata.integer(key(suffix)), max);
  }

  private int optional(String suffix, long otherwise, int max) {
    return inRange(key(suffix), metadata.findInteger(key(suffix)).orElse(otherwise), max);
  }

  private int inRange(String key, long value, int max) {
    if (value < 1 || value > max) {
      throw metadata.invalid(key, "is %d, but must be from 1 to %d".formatted(value, max));
    }
    return (int) value;
  }

  private String key(String suffix) {
    return name + "." + suffix;
  }
}
