package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFileTest {
  private static final int MUTATIONS = 1_500;

  @TempDir Path folder;

  @Test
  void every_type_of_value_is_read() {
    GgufFile made =
        new GgufFile()
            .key("u8", 0, new byte[] {-1})
            .key("i8", 1, new byte[] {-1})
            .key("u16", 2, new byte[] {-1, -1})
            .key("i16", 3, new byte[] {-2, -1})
            .key("u32", 4, new byte[] {-1, -1, -1, -1})
            .key("i32", 5, new byte[] {-3, -1, -1, -1})
            .number("f32", 0.1f)
            .flag("yes", 1)
            .flag("no", 0)
            .string("text", "höhe")
            .key("u64", 10, GgufFile.little(8).putLong(1L << 62).array())
            .key("i64", 11, GgufFile.little(8).putLong(-4).array())
            .key("f64", 12, GgufFile.little(8).putDouble(0.1).array());
    Metadata metadata = open(made).metadata();
    assertThat(metadata.keys()).startsWith("u8", "i8").hasSize(13);
    assertThat(metadata.integer("u8")).isEqualTo(255);
    assertThat(metadata.integer("i8")).isEqualTo(-1);
    assertThat(metadata.integer("u16")).isEqualTo(65535);
    assertThat(metadata.integer("i16")).isEqualTo(-2);
    assertThat(metadata.integer("u32")).isEqualTo(4294967295L);
    assertThat(metadata.integer("i32")).isEqualTo(-3);
    assertThat(metadata.integer("u64")).isEqualTo(1L << 62);
    assertThat(metadata.integer("i64")).isEqualTo(-4);
    assertThat(metadata.number("f32")).isEqualTo(0.1f);
    assertThat(metadata.number("f64")).isEqualTo(0.1);
    assertThat(metadata.flag("yes", false)).isTrue();
    assertThat(metadata.flag("no", true)).isFalse();
    assertThat(metadata.flag("absent", true)).isTrue();
    assertThat(metadata.string("text")).isEqualTo("höhe");
    assertThat(metadata.findInteger("absent")).isEmpty();
  }

  @Test
  void arrays_are_read() {
    GgufFile made =
        new GgufFile()
            .strings("words", "", "ä", "bc")
            .array("floats", 6, 2, GgufFile.little(8).putFloat(1).putFloat(-2).array())
            .array("ints", 5, 2, GgufFile.little(8).putInt(1).putInt(-2).array())
            .array("none", 8, 0, new byte[0])
            .array("deep", 9, 1, GgufFile.little(14).putInt(0).putLong(2).array())
            .integer("after", 7);
    Metadata metadata = open(made).metadata();
    assertThat(metadata.strings("words")).containsExactly("", "ä", "bc");
    assertThat(metadata.floats("floats")).containsExactly(1f, -2f);
    assertThat(metadata.integers("ints")).containsExactly(1, -2);
    assertThat(metadata.strings("none")).isEmpty();
    assertThat(metadata.count("deep")).hasValue(1);
    assertThat(metadata.count("absent")).isEmpty();
    assertThat(metadata.integer("after")).as("what follows nested arrays").isEqualTo(7);
    assertThatThrownBy(() -> metadata.floats("ints"))
        .isInstanceOf(InvalidModelFile.class)
        .hasMessageEndingWith("'ints' must be an array of FLOAT32, but is an array of INT32");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void both_versions_are_read(int version) {
    ModelFile file = open(GgufFile.llama().version(version));
    assertThat(file.hyperparameters().layers()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 32, 4096})
  void tensors_lie_where_the_alignment_puts_them(int alignment) {
    byte[] data = GgufFile.little(8).putFloat(3).putFloat(4).array();
    ModelFile file =
        open(
            new GgufFile(alignment)
                .integer("general.alignment", alignment)
                .zeros("one", 3)
                .tensor("two", 0, new long[] {2}, -1, data));
    float[] row = new float[2];
    file.tensor("two").dequantize(0, row, 0);
    assertThat(row).containsExactly(3f, 4f);
    assertThat(file.tensor("two").data().byteSize()).isEqualTo(8);
    assertThat(file.find("three")).isEmpty();
    assertThatThrownBy(() -> file.tensor("three")).hasMessageEndingWith("'three' is missing");
  }

  @Test
  void the_digest_is_that_of_the_whole_file() throws IOException {
    Path path = Files.write(folder.resolve("x.gguf"), Arrays.copyOf(new GgufFile().bytes(), 65));
    try (ModelFile file = ModelFile.open(path)) {
      String digest = file.digest();
      assertThat(digest)
          .isEqualTo("1197c69908f42020520dff455f542c36662f827cb1dea22c5794b083c07466ae");
      assertThat(file.digest()).isSameAs(digest);
    }
  }

  @Test
  void what_was_copied_outlives_the_file() throws IOException {
    ModelFile file = open(GgufFile.llama());
    try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
      channel.truncate(100);
    }
    Files.delete(file.path());
    assertThat(file.hyperparameters().vocabulary()).isEqualTo(3);
    file.close();
    assertThat(file.metadata().strings("tokenizer.ggml.tokens")).isEqualTo(List.of("a", "b", "c"));
    Tensor tensor = file.tensor("output_norm.weight");
    assertThatThrownBy(() -> tensor.data().get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
    file.close();
  }

  @Test
  void a_file_that_is_cut_while_it_is_loaded_is_noticed() throws IOException {
    ModelFile file = open(GgufFile.llama());
    file.checkUnchanged();
    FileTime before = Files.getLastModifiedTime(file.path());
    try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
      channel.truncate(Files.size(file.path()) - 1);
    }
    Files.setLastModifiedTime(file.path(), before);
    assertThatThrownBy(file::checkUnchanged)
        .isInstanceOf(InvalidModelFile.class)
        .hasMessageEndingWith("the file was changed while it was loaded");
  }

  @Test
  void a_file_that_is_written_while_it_is_loaded_is_noticed() throws IOException {
    ModelFile file = open(GgufFile.llama());
    Files.setLastModifiedTime(file.path(), FileTime.from(Instant.EPOCH));
    assertThatThrownBy(file::checkUnchanged).isInstanceOf(InvalidModelFile.class);
  }

  @Test
  void a_file_that_is_replaced_by_another_does_not_matter() throws IOException {
    ModelFile file = open(GgufFile.llama());
    Path other = Files.write(folder.resolve("other"), new byte[] {1});
    Files.setLastModifiedTime(other, FileTime.from(Instant.EPOCH));
    Files.move(other, file.path(), StandardCopyOption.ATOMIC_MOVE);
    file.checkUnchanged();
    float[] row = new float[32];
    file.tensor("token_embd.weight").dequantize(2, row, 0);
    assertThat(row).containsOnly(0f);
  }

  /** Flips, overwrites and cuts: the answer is always a model or one InvalidModelFile. */
  @Test
  void a_damaged_file_is_read_or_refused_and_nothing_else() throws IOException {
    long seed = Long.getLong("seed", 7L);
    Random random = new Random(seed);
    byte[] sound = GgufFile.gemma3().bytes();
    int head = sound.length - 20 * 4096;
    int refused = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] damaged = damage(sound.clone(), Math.max(head, 600), random);
      Path path = Files.write(folder.resolve("damaged.gguf"), damaged);
      try (ModelFile file = ModelFile.open(path)) {
        file.hyperparameters();
        file.tensors().forEach(ModelFileTest::readLastRow);
      } catch (InvalidModelFile _) {
        refused++;
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            "reproduce with: mvn test -Dtest=ModelFileTest -Dseed=" + seed + ", round " + i, e);
      }
    }
    assertThat(refused).isBetween(MUTATIONS / 4, MUTATIONS - 1);
  }

  private static byte[] damage(byte[] bytes, int head, Random random) {
    int at = random.nextInt(head);
    switch (random.nextInt(4)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt(256);
      case 2 -> Arrays.fill(bytes, at, Math.min(at + 8, bytes.length), (byte) -1);
      default -> {
        return Arrays.copyOf(bytes, at);
      }
    }
    return bytes;
  }

  private static void readLastRow(Tensor tensor) {
    tensor.dequantize(tensor.rows() - 1, new float[tensor.columns()], 0);
  }

  private ModelFile open(GgufFile made) {
    return ModelFile.open(made.write(folder));
  }
}
