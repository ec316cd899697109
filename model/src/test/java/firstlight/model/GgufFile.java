package firstlight.model;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes GGUF files for tests, sound ones and others. */
final class GgufFile {
  private final Map<String, byte[]> keys = new LinkedHashMap<>();
  private final List<Stored> tensors = new ArrayList<>();
  private final int alignment;
  private int version = 3;

  /**
   * @param offset behind the tensor table; -1: where the next one belongs
   */
  private record Stored(String name, int type, long[] shape, long offset, byte[] data) {}

  GgufFile() {
    this(32);
  }

  GgufFile(int alignment) {
    this.alignment = alignment;
  }

  /** A llama of two layers: embedding 32, two heads, one key/value head, three tokens. */
  static GgufFile llama() {
    GgufFile file =
        new GgufFile()
            .string("general.architecture", "llama")
            .integer("llama.block_count", 2)
            .integer("llama.context_length", 64)
            .integer("llama.embedding_length", 32)
            .integer("llama.feed_forward_length", 64)
            .integer("llama.attention.head_count", 2)
            .integer("llama.attention.head_count_kv", 1)
            .number("llama.attention.layer_norm_rms_epsilon", 1e-5f)
            .strings("tokenizer.ggml.tokens", "a", "b", "c");
    file.zeros("token_embd.weight", 32, 3).zeros("output_norm.weight", 32);
    for (int layer = 0; layer < 2; layer++) {
      file.layer("blk." + layer + ".", 16);
    }
    return file;
  }

  /** A gemma3 of two layers, with heads of 8 although 32 / 2 is 16. */
  static GgufFile gemma3() {
    GgufFile file =
        new GgufFile()
            .string("general.architecture", "gemma3")
            .integer("gemma3.block_count", 2)
            .integer("gemma3.context_length", 64)
            .integer("gemma3.embedding_length", 32)
            .integer("gemma3.feed_forward_length", 64)
            .integer("gemma3.attention.head_count", 2)
            .integer("gemma3.attention.head_count_kv", 1)
            .integer("gemma3.attention.key_length", 8)
            .integer("gemma3.attention.value_length", 8)
            .integer("gemma3.attention.sliding_window", 16)
            .number("gemma3.attention.layer_norm_rms_epsilon", 1e-6f)
            .strings("tokenizer.ggml.tokens", "a", "b", "c");
    file.zeros("token_embd.weight", 32, 3).zeros("output_norm.weight", 32);
    for (int layer = 0; layer < 2; layer++) {
      String name = "blk." + layer + ".";
      file.layer(name, 8);
      file.zeros(name + "attn_q_norm.weight", 8).zeros(name + "attn_k_norm.weight", 8);
      file.zeros(name + "post_attention_norm.weight", 32);
      file.zeros(name + "post_ffw_norm.weight", 32);
    }
    return file;
  }

  private void layer(String name, int headSize) {
    zeros(name + "attn_norm.weight", 32).zeros(name + "ffn_norm.weight", 32);
    zeros(name + "attn_q.weight", 32, 2 * headSize).zeros(name + "attn_k.weight", 32, headSize);
    zeros(name + "attn_v.weight", 32, headSize);
    zeros(name + "attn_output.weight", 2 * headSize, 32);
    zeros(name + "ffn_gate.weight", 32, 64).zeros(name + "ffn_up.weight", 32, 64);
    zeros(name + "ffn_down.weight", 64, 32);
  }

  GgufFile version(int number) {
    version = number;
    return this;
  }

  GgufFile string(String key, String value) {
    return key(key, GgufType.STRING.ordinal(), text(value));
  }

  GgufFile integer(String key, long value) {
    return key(key, GgufType.UINT32.ordinal(), little(4).putInt((int) value).array());
  }

  GgufFile number(String key, float value) {
    return key(key, GgufType.FLOAT32.ordinal(), little(4).putFloat(value).array());
  }

  GgufFile flag(String key, int value) {
    return key(key, GgufType.BOOL.ordinal(), new byte[] {(byte) value});
  }

  GgufFile strings(String key, String... values) {
    Bytes content = new Bytes();
    for (String value : values) {
      content.put(text(value));
    }
    return array(key, GgufType.STRING.ordinal(), values.length, content.toByteArray());
  }

  GgufFile array(String key, int elementType, long count, byte[] content) {
    byte[] head = little(12).putInt(elementType).putLong(count).array();
    return key(key, GgufType.ARRAY.ordinal(), new Bytes().put(head).put(content).toByteArray());
  }

  /** A key with whatever type and bytes. A key once more replaces the earlier one. */
  GgufFile key(String key, int type, byte[] value) {
    byte[] head = little(4).putInt(type).array();
    keys.put(key, new Bytes().put(head).put(value).toByteArray());
    return this;
  }

  GgufFile without(String keyOrTensor) {
    keys.remove(keyOrTensor);
    tensors.removeIf(tensor -> tensor.name().equals(keyOrTensor));
    return this;
  }

  GgufFile zeros(String name, long... shape) {
    int numbers = 1;
    for (long dimension : shape) {
      numbers *= (int) dimension;
    }
    return tensor(name, TensorType.F32.number(), shape, -1, new byte[numbers * 4]);
  }

  GgufFile tensor(String name, int type, long[] shape, long offset, byte[] data) {
    tensors.add(new Stored(name, type, shape, offset, data));
    return this;
  }

  byte[] bytes() {
    Bytes out = new Bytes();
    out.put("GGUF".getBytes(StandardCharsets.US_ASCII)).put(little(4).putInt(version).array());
    out.put(little(16).putLong(tensors.size()).putLong(keys.size()).array());
    keys.forEach((key, value) -> out.put(text(key)).put(value));
    Bytes data = new Bytes();
    for (Stored tensor : tensors) {
      data.align(alignment);
      out.put(text(tensor.name()));
      out.put(little(4).putInt(tensor.shape().length).array());
      for (long dimension : tensor.shape()) {
        out.put(little(8).putLong(dimension).array());
      }
      long offset = tensor.offset() == -1 ? data.size() : tensor.offset();
      out.put(little(12).putInt(tensor.type()).putLong(offset).array());
      data.put(tensor.data());
    }
    return out.align(alignment).put(data.toByteArray()).toByteArray();
  }

  Path write(Path folder) {
    try {
      return Files.write(folder.resolve("made.gguf"), bytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return new Bytes().put(little(8).putLong(utf8.length).array()).put(utf8).toByteArray();
  }

  static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static final class Bytes extends ByteArrayOutputStream {
    Bytes put(byte[] bytes) {
      writeBytes(bytes);
      return this;
    }

    Bytes align(int alignment) {
      while (size() % alignment != 0) {
        write(0);
      }
      return this;
    }
  }
}
