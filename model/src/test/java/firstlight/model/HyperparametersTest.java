package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class HyperparametersTest {
  @TempDir Path folder;

  @Test
  void a_llama_is_read_with_the_usual_defaults() {
    Hyperparameters model = read(GgufFile.llama());
    assertThat(model.architecture()).isEqualTo("llama");
    assertThat(model.layers()).isEqualTo(2);
    assertThat(model.embedding()).isEqualTo(32);
    assertThat(model.feedForward()).isEqualTo(64);
    assertThat(model.heads()).isEqualTo(2);
    assertThat(model.kvHeads()).isEqualTo(1);
    assertThat(model.headSize()).isEqualTo(16);
    assertThat(model.contextLength()).isEqualTo(64);
    assertThat(model.vocabulary()).isEqualTo(3);
    assertThat(model.normEpsilon()).isEqualTo(1e-5f);
    assertThat(model.ropeBase()).isEqualTo(10_000f);
    assertThat(model.ropeScale()).isEqualTo(1f);
    assertThat(model.ropeDimensions()).isEqualTo(16);
    assertThat(model.ropeInterleaved()).isTrue();
    assertThat(model.attentionScale()).isEqualTo(0.25f);
    assertThat(model.embeddingScale()).isEqualTo(1f);
    assertThat(model.tiedEmbeddings()).isTrue();
    assertThat(model.isLocal(0)).isFalse();
  }

  @Test
  void a_gemma3_has_five_local_layers_before_each_global_one() {
    Hyperparameters model = read(GgufFile.gemma3());
    assertThat(model.slidingWindow()).isEqualTo(16);
    assertThat(model.slidingPattern()).isEqualTo(6);
    assertThat(model.ropeBase()).isEqualTo(1e6f);
    assertThat(model.ropeBaseLocal()).isEqualTo(1e4f);
    assertThat(model.ropeInterleaved()).isFalse();
    assertThat(model.headSize()).isEqualTo(8);
    assertThat(model.embeddingScale()).isEqualTo((float) Math.sqrt(32));
    assertThat(model.attentionScale()).isCloseTo(0.35355f, within(1e-5f));
    for (int layer = 0; layer < 12; layer++) {
      assertThat(model.isLocal(layer)).as("layer %d", layer).isEqualTo(layer != 5 && layer != 11);
    }
  }

  @Test
  void soft_caps_and_scale_are_taken_where_they_are_given() {
    Hyperparameters model =
        read(
            GgufFile.gemma3()
                .number("gemma3.final_logit_softcapping", 30)
                .number("gemma3.attn_logit_softcapping", 50)
                .number("gemma3.attention.scale", 0.125f));
    assertThat(model.logitSoftcap()).isEqualTo(30f);
    assertThat(model.attentionSoftcap()).isEqualTo(50f);
    assertThat(model.attentionScale()).isEqualTo(0.125f);
    assertThat(read(GgufFile.gemma3()).logitSoftcap()).isZero();
  }

  @Test
  void an_own_output_matrix_is_used_when_it_is_there() {
    assertThat(read(GgufFile.llama().zeros("output.weight", 32, 3)).tiedEmbeddings()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "general.architecture",
        "llama.block_count",
        "llama.context_length",
        "llama.embedding_length",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon"
      })
  void a_missing_key_is_named(String key) {
    refused(GgufFile.llama().without(key), "metadata key '" + key + "' is missing");
  }

  static Stream<Arguments> senseless() {
    return Stream.of(
        arguments("block_count", 0L, "is 0, but must be from 1 to 1000"),
        arguments("block_count", 3L, "tensor 'blk.2.attn_norm.weight' is missing"),
        arguments("embedding_length", 1L << 30, "is 1073741824, but must be from 1 to"),
        arguments("embedding_length", 64L, "tensor 'token_embd.weight' has the shape [32, 3]"),
        arguments("attention.head_count", 3L, "'llama.attention.head_count' is 3, which does not"),
        arguments("attention.head_count_kv", 3L, "'llama.attention.head_count_kv' is 3, which"),
        arguments("attention.value_length", 8L, "differs from the key length 16"),
        arguments("vocab_size", 4L, "has 3 tokens, but llama.vocab_size is 4"),
        arguments("rope.dimension_count", 7L, "is 7, not even"),
        arguments("rope.dimension_count", 18L, "is 18, but must be from 1 to 16"),
        arguments("expert_count", 8L, "mixtures of experts are not supported"));
  }

  @ParameterizedTest
  @MethodSource("senseless")
  void a_senseless_number_is_refused_by_name(String key, long value, String reason) {
    refused(GgufFile.llama().integer("llama." + key, value), reason);
  }

  @ParameterizedTest
  @ValueSource(floats = {0, -1, Float.NaN, Float.POSITIVE_INFINITY})
  void a_senseless_base_is_refused_by_name(float base) {
    refused(
        GgufFile.llama().number("llama.rope.freq_base", base),
        "metadata key 'llama.rope.freq_base' is " + (double) base + ", but must be from");
  }

  @Test
  void a_key_of_another_type_is_refused_by_name() {
    refused(
        GgufFile.llama().string("llama.block_count", "2"),
        "metadata key 'llama.block_count' must be an integer, but is STRING");
    refused(
        GgufFile.llama().array("llama.attention.head_count", 4, 2, new byte[8]),
        "must be an integer, but is an array of UINT32");
  }

  @Test
  void another_architecture_is_refused_with_its_name_and_those_supported() {
    refused(
        new GgufFile().string("general.architecture", "mamba2"),
        "the architecture 'mamba2' is not supported; supported are llama, gemma3");
  }

  @Test
  void a_missing_tensor_is_named() {
    refused(
        GgufFile.llama().without("blk.1.ffn_up.weight"), "tensor 'blk.1.ffn_up.weight' is missi");
    refused(GgufFile.gemma3().without("blk.0.attn_q_norm.weight"), "'blk.0.attn_q_norm.weight' is");
  }

  @Test
  void a_tensor_of_another_shape_is_refused_with_both_shapes() {
    refused(
        GgufFile.llama().without("blk.1.attn_k.weight").zeros("blk.1.attn_k.weight", 32, 8),
        "tensor 'blk.1.attn_k.weight' has the shape [32, 8], but must have [32, 16]");
  }

  @Test
  void a_tensor_that_nobody_would_read_is_refused() {
    refused(
        GgufFile.llama().zeros("blk.0.attn_q.bias", 32), "tensor 'blk.0.attn_q.bias' is not part");
  }

  @Test
  void rotations_slow_down_with_each_pair() {
    float[] frequencies = frequencies(GgufFile.llama(), 0);
    assertThat(frequencies).hasSize(8);
    assertThat(frequencies[0]).isEqualTo(1f);
    assertThat(frequencies[4]).isCloseTo(0.01f, within(1e-8f));
  }

  @Test
  void linear_scaling_slows_all_rotations_but_those_of_local_layers() {
    GgufFile stretched =
        GgufFile.gemma3()
            .integer("gemma3.attention.sliding_window_pattern", 2)
            .string("gemma3.rope.scaling.type", "linear")
            .number("gemma3.rope.scaling.factor", 8);
    assertThat(read(stretched).ropeScale()).isEqualTo(0.125f);
    assertThat(frequencies(stretched, 0)[0]).as("local").isEqualTo(1f);
    assertThat(frequencies(stretched, 1)[0]).as("global").isEqualTo(0.125f);
    assertThat(frequencies(stretched, 0)[1]).as("local base").isCloseTo(0.1f, within(1e-7f));
    assertThat(frequencies(stretched, 1)[2]).isCloseTo(0.000125f, within(1e-9f));
  }

  @Test
  void a_tensor_of_divisors_slows_rotations() {
    byte[] divisors = GgufFile.little(32).putFloat(2).putFloat(4).array();
    GgufFile file = GgufFile.llama().tensor("rope_freqs.weight", 0, new long[] {8}, -1, divisors);
    assertThat(frequencies(file, 0)[0]).isEqualTo(0.5f);
    assertThat(frequencies(file, 0)[1]).isCloseTo(0.0790569f, within(1e-6f));
  }

  @Test
  void llama_3_scaling_leaves_fast_rotations_and_slows_slow_ones() {
    GgufFile file =
        GgufFile.llama()
            .string("llama.rope.scaling.type", "llama3")
            .number("llama.rope.scaling.factor", 8)
            .integer("llama.rope.scaling.original_context_length", 1000);
    float[] scaled = frequencies(file, 0);
    float[] plain = frequencies(GgufFile.llama(), 0);
    assertThat(scaled[2]).as("0.1 rad: 15.9 turns").isEqualTo(plain[2]);
    // 0.01 rad: 1.5915 turns, 0.1972 of the way from 1 to 4.
    assertThat(plain[4] / scaled[4]).isCloseTo(3.3610f, within(1e-3f));
    assertThat(plain[6] / scaled[6]).as("0.001 rad: 0.16 turns").isCloseTo(8f, within(1e-5f));
  }

  @Test
  void another_scaling_is_refused_with_those_supported() {
    refused(
        GgufFile.llama().string("llama.rope.scaling.type", "yarn"),
        "'llama.rope.scaling.type' is 'yarn'; supported are none, linear, llama3");
  }

  @Test
  void the_real_smollm2_is_a_llama_with_tied_embeddings() {
    Hyperparameters model = real(TestModels.smollm2());
    assertThat(model.layers()).isEqualTo(30);
    assertThat(model.embedding()).isEqualTo(576);
    assertThat(model.heads()).isEqualTo(9);
    assertThat(model.kvHeads()).isEqualTo(3);
    assertThat(model.contextLength()).isEqualTo(8192);
    assertThat(model.vocabulary()).isEqualTo(49152);
    assertThat(model.ropeBase()).isEqualTo(100_000f);
    assertThat(model.tiedEmbeddings()).isTrue();
  }

  @Test
  void the_real_gemma3_has_heads_wider_than_its_embedding_suggests() {
    Hyperparameters model = real(TestModels.gemma3());
    assertThat(model.layers()).isEqualTo(18);
    assertThat(model.embedding()).isEqualTo(640);
    assertThat(model.headSize()).isEqualTo(256);
    assertThat(model.slidingWindow()).isEqualTo(512);
    assertThat(model.attentionScale()).isEqualTo(0.0625f);
    assertThat(model.vocabulary()).isEqualTo(262144);
  }

  private static Hyperparameters real(Path path) {
    try (ModelFile file = ModelFile.open(path)) {
      return file.hyperparameters();
    }
  }

  private Hyperparameters read(GgufFile made) {
    try (ModelFile file = ModelFile.open(made.write(folder))) {
      return file.hyperparameters();
    }
  }

  private float[] frequencies(GgufFile made, int layer) {
    try (ModelFile file = ModelFile.open(made.write(folder))) {
      return file.ropeFrequencies(layer);
    }
  }

  private void refused(GgufFile made, String reason) {
    assertThatThrownBy(() -> read(made))
        .isInstanceOf(InvalidModelFile.class)
        .hasMessageContaining("made.gguf: ")
        .hasMessageContaining(reason);
  }
}
