package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Cases B74 and B76: files that are not what they say are refused, at once, in one line. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MalformedFileTest {
  private static final long HEAP_GROWTH_MAX = 50L << 20;
  private static final long ONE_SECOND = TimeUnit.SECONDS.toNanos(1);

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          47475546030000000000000000000000010000000000000000000000000000000000000001 \
          | at byte 24: a metadata key is empty
          474755460300000000000000000000000000000000000010 \
          | at byte 16: the number of metadata keys is 1152921504606846976, more than
          474755460300000000000000000000000100000000000000f8ffffffffffffff \
          | at byte 24: the length of a metadata key is 18446744073709551608, more than
          4747554603000000000000000000000001000000000000000c0000000000000067656e6572616c2e6e616d65\
          080000000000000000010000616263 \
          | at byte 48: the length of metadata key 'general.name' is 1099511627776, more than
          47475546030000000000000000000000010000000000000001000000000000006109000000630000000000000\
          000000010 \
          | at byte 37: 99 is the unknown type of the elements of metadata key 'a'
          474755460300000000000000000000100000000000000000 \
          | at byte 8: the number of tensors is 1152921504606846976, more than
          474755460000000300000000000000000000000000000000 | at byte 4: a big-endian file
          474755 | at byte 0: the word GGUF at the beginning needs 4 bytes, but the file ends at
          """)
  void malformed_headers_are_refused_quickly_in_little_memory(String hex, String reason)
      throws IOException {
    refused(write(HexFormat.of().parseHex(hex)), reason);
  }

  @Test
  void an_empty_file_is_refused() throws IOException {
    refused(write(new byte[0]), "at byte 0: ");
  }

  @Test
  void a_directory_is_refused() {
    refused(folder, "not a regular file");
  }

  @Test
  void a_missing_file_is_refused() {
    refused(folder.resolve("none.gguf"), "there is no such file");
  }

  @Test
  void a_pipe_is_refused_and_not_waited_for() throws Exception {
    Path pipe = folder.resolve("pipe.gguf");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    refused(pipe, "not a regular file");
  }

  @Test
  void a_gibibyte_of_zeros_is_refused() throws IOException {
    Path zeros = folder.resolve("zeros.gguf");
    Files.createFile(zeros);
    resize(zeros, 1L << 30);
    refused(zeros, "not a GGUF file");
  }

  @Test
  void a_text_file_is_refused() throws IOException {
    refused(write("Once upon a time\n".getBytes()), "begins with the bytes 4f6e6365");
  }

  static Stream<Arguments> wrongFiles() {
    byte[] block = new byte[128];
    return Stream.of(
        arguments(new GgufFile().version(1), "unsupported GGUF version 1"),
        arguments(new GgufFile().version(4), "unsupported GGUF version 4"),
        arguments(new GgufFile().flag("a", 2), "metadata key 'a' is a flag, but has the value 2"),
        arguments(new GgufFile().key("a", 13, block), "13 is the unknown type of metadata key 'a'"),
        arguments(
            new GgufFile().key("a", GgufType.UINT64.ordinal(), eight(-1)),
            "metadata key 'a' is 18446744073709551615, too large"),
        arguments(new GgufFile().integer("general.alignment", 0), "must be a power of two"),
        arguments(new GgufFile().integer("general.alignment", 48), "must be a power of two"),
        arguments(new GgufFile().string("general.alignment", "8"), "must be an integer"),
        arguments(new GgufFile().integer("split.count", 3), "one of 3 parts"),
        arguments(new GgufFile().array("a", 9, 1, nested(4)), "arrays more than 4 deep"),
        arguments(
            new GgufFile().array("a", 9, 1L << 40, new byte[64]),
            "the number of elements of metadata key 'a' is 1099511627776, more than"),
        arguments(tensor("", 0, 0, 32), "the name of a tensor is empty"),
        arguments(tensor("n".repeat(65), 0, 0, 32), "at most 64 are allowed"),
        arguments(tensor("t", 0, 0), "has 0 dimensions"),
        arguments(tensor("t", 0, 0, 2, 2, 2, 2, 2), "has 5 dimensions"),
        arguments(tensor("t", 0, 0, 32, 0), "dimension 1 of tensor 't' is 0"),
        arguments(tensor("t", 0, 0, 1L << 40), "dimension 0 of tensor 't' is 1099511627776"),
        arguments(tensor("t", 0, 0, -1), "dimension 0 of tensor 't' is 18446744073709551615"),
        arguments(tensor("t", 0, 0, big(), big(), big()), "more than a number can hold"),
        arguments(tensor("t", 10, 0, 256), "the type number 10, which is not supported"),
        arguments(tensor("t", 2, 0, 33), "has 33 elements, not a multiple of the 32"),
        arguments(tensor("t", 0, 8, 4), "offset 8 of tensor 't' is not a multiple of the align"),
        arguments(tensor("t", 0, -32, 4), "tensor 't' needs bytes"),
        arguments(tensor("t", 0, 1L << 62, 4), "tensor 't' needs bytes"),
        arguments(
            tensor("t", 0, 0, 4).tensor("t", 0, new long[] {4}, 32, block),
            "tensor 't' is there twice"),
        arguments(
            tensor("t", 0, 0, 16).tensor("u", 0, new long[] {4}, 32, block),
            "tensors 't' and 'u' lie over each other"));
  }

  @ParameterizedTest
  @MethodSource("wrongFiles")
  void what_contradicts_itself_is_refused_by_name(GgufFile file, String reason) {
    refused(file.write(folder), reason);
  }

  @Test
  void a_key_that_is_there_twice_is_refused() throws IOException {
    byte[] two = new GgufFile().integer("ab", 1).integer("ac", 2).bytes();
    int second = indexOf(two, (byte) 'c');
    two[second] = 'b';
    refused(write(two), "at byte 42: metadata key 'ab' is there twice");
  }

  @Test
  void names_in_messages_stay_on_one_short_line() {
    String name = "a\nb" + "x".repeat(1000);
    refused(new GgufFile().flag(name, 7).write(folder), "'a\uFFFDb" + "x".repeat(77) + "…'");
  }

  @Test
  void every_file_that_is_cut_short_is_refused() throws IOException {
    byte[] whole = GgufFile.llama().bytes();
    Path file = write(whole);
    for (int length = whole.length - 1; length >= 0; length -= length > 600 ? 97 : 1) {
      resize(file, length);
      assertThatThrownBy(() -> ModelFile.open(file)).isInstanceOf(InvalidModelFile.class);
    }
  }

  @Test
  void one_byte_short_names_tensor_and_sizes() throws IOException {
    byte[] whole = GgufFile.llama().bytes();
    Path cut = write(Arrays.copyOf(whole, whole.length - 1));
    refused(
        cut,
        "tensor 'blk.1.ffn_down.weight' needs bytes %d..%d, file has %d"
            .formatted(whole.length - 64 * 32 * 4, whole.length, whole.length - 1));
  }

  @Test
  void the_real_model_cut_short_is_refused() throws IOException {
    // The head is the real one; behind it a hole of zeros, which is not looked at.
    int head = 5_000_000;
    try (InputStream model = Files.newInputStream(TestModels.smollm2())) {
      Path cut = write(model.readNBytes(head));
      for (long length : new long[] {98_362_431, 98_362_400, 60_000_000, head, 1_000}) {
        resize(cut, length);
        refused(cut, length == 1_000 ? "at byte" : ", file has " + length);
      }
    }
  }

  @Test
  void bytes_behind_the_last_tensor_do_not_matter() throws IOException {
    byte[] whole = GgufFile.llama().bytes();
    try (ModelFile file = ModelFile.open(write(Arrays.copyOf(whole, whole.length + 1024)))) {
      assertThat(file.tensors()).hasSize(20);
    }
  }

  private static void refused(Path file, String reason) {
    long heapBefore = allocated();
    long from = cpuNanos();
    assertThatThrownBy(() -> ModelFile.open(file))
        .isInstanceOf(InvalidModelFile.class)
        .hasMessageStartingWith(file + ": ")
        .hasMessageContaining(reason)
        .message()
        .doesNotContain("\n");
    assertThat(cpuNanos() - from).isLessThan(ONE_SECOND);
    assertThat(allocated() - heapBefore).isLessThan(HEAP_GROWTH_MAX);
  }

  /** This thread's own time: a busy machine does not count. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** Bytes this thread has allocated so far: what it gave back counts too. */
  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getCurrentThreadAllocatedBytes();
  }

  private static GgufFile tensor(String name, int type, long offset, long... shape) {
    return new GgufFile().tensor(name, type, shape, offset, new byte[128]);
  }

  private static long big() {
    return Integer.MAX_VALUE;
  }

  private static byte[] eight(long value) {
    return GgufFile.little(8).putLong(value).array();
  }

  /** Arrays of one array of one array…, and an empty one of bytes inside. */
  private static byte[] nested(int depth) {
    var content = GgufFile.little(12 * depth);
    for (int i = 1; i < depth; i++) {
      content.putInt(GgufType.ARRAY.ordinal()).putLong(1);
    }
    return content.putInt(0).putLong(0).array();
  }

  private static int indexOf(byte[] bytes, byte wanted) {
    int index = 0;
    while (bytes[index] != wanted) {
      index++;
    }
    return index;
  }

  private static void resize(Path file, long length) throws IOException {
    try (RandomAccessFile resized = new RandomAccessFile(file.toFile(), "rw")) {
      resized.setLength(length);
    }
  }

  private Path write(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("case.gguf"), bytes);
  }
}
