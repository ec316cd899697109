package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against plain arithmetic, over scattered Blocks. */
class AttentionTest {
  private static final int HEAD = 96;
  private static final int KV_HEADS = 2;
  private static final int POSITIONS = 600;
  private static final int GROUP = 3;
  private static final float SCALE = 0.3f;

  private final Random random = new Random(Long.getLong("seed", 1));
  private final float[][] keys = rows();
  private final float[][] values = rows();

  private float[][] rows() {
    return IntStream.range(0, POSITIONS)
        .mapToObj(_ -> halves(gaussians(HEAD)))
        .toArray(float[][]::new);
  }

  /** Numbers that either type of memory keeps as they are. */
  private static float[] halves(float[] numbers) {
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = Float.float16ToFloat(Float.floatToFloat16(numbers[i]));
    }
    return numbers;
  }

  private float[] gaussians(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1000, 16, 0, F32",
    "15, 1, 1000, 16, 0, F16",
    "16, 1, 1000, 16, 0, F16",
    "0, 7, 1000, 16, 0, F32",
    "200, 8, 1000, 32, 0, F16",
    "254, 5, 1000, 16, 0, F16",
    "592, 8, 1000, 16, 0, F32",
    "592, 8, 1000, 48, 5, F16",
    "300, 8, 20, 16, 0, F16",
    "280, 8, 30, 16, 0, F32",
    "520, 8, 260, 32, 0, F16",
    "17, 1, 1, 16, 0, F16"
  })
  void queries_get_the_values_whose_keys_fit(
      int position, int rows, int window, int blockTokens, float softcap, GpuConfig.KvType type) {
    int[] blocks = shuffled(POSITIONS / blockTokens + 1);
    try (KvMemory memory = filled(blocks, blockTokens, type)) {
      float[] queries = gaussians(rows * GROUP * HEAD);
      float[] out = outputs(memory, blocks, position, rows, window, softcap, queries);
      for (int query = 0; query < rows * GROUP; query++) {
        int to = position + query / GROUP + 1;
        double[] expected = plain(queries, query * HEAD, Math.max(0, to - window), to, softcap);
        for (int i = 0; i < HEAD; i++) {
          assertThat((double) out[query * HEAD + i]).isCloseTo(expected[i], within(2e-5));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 1000", "250, 1000", "592, 1000", "300, 20", "509, 260"})
  void a_query_gets_the_same_bits_alone_and_among_others(int position, int window) {
    int[] blocks = shuffled(POSITIONS / 16 + 1);
    try (KvMemory memory = filled(blocks, 16, GpuConfig.KvType.F16)) {
      int rows = 8;
      float[] queries = gaussians(rows * GROUP * HEAD);
      float[] together = outputs(memory, blocks, position, rows, window, 0, queries);
      int size = GROUP * HEAD;
      for (int row = 0; row < rows; row++) {
        float[] own = Arrays.copyOfRange(queries, row * size, (row + 1) * size);
        assertThat(outputs(memory, blocks, position + row, 1, window, 0, own))
            .isEqualTo(Arrays.copyOfRange(together, row * size, (row + 1) * size));
      }
    }
  }

  private KvMemory filled(int[] blocks, int blockTokens, GpuConfig.KvType type) {
    KvMemory.Shape shape = new KvMemory.Shape(2, KV_HEADS, HEAD, blockTokens, type);
    KvMemory memory = new KvMemory(shape, blocks.length);
    for (int position = 0; position < POSITIONS; position++) {
      int block = blocks[position / blockTokens];
      int inBlock = position % blockTokens;
      memory.storeKey(memory.part(1, block, 1), inBlock, keys[position], 0);
      memory.storeValue(memory.part(1, block, 1), inBlock, values[position], 0);
    }
    return memory;
  }

  private static float[] outputs(
      KvMemory memory,
      int[] blocks,
      int position,
      int rows,
      int window,
      float softcap,
      float[] queries) {
    Attention attention = new Attention(memory, HEAD, SCALE, softcap);
    Attention.View view = new Attention.View(1, 1, blocks, position, rows, GROUP, window);
    for (int query = 0; query < view.queries(); query++) {
      attention.query(query, queries, query * HEAD);
    }
    float[] partial = new float[Attention.QUERIES * Attention.record(HEAD)];
    attention.begin(view.queries());
    int last = (position + rows - 1) / Attention.SPLIT;
    for (int split = view.from(0) / Attention.SPLIT; split <= last; split++) {
      attention.split(view, split, partial, 0);
      attention.fold(view.queries(), partial, 0);
    }
    float[] out = new float[view.queries() * HEAD];
    for (int query = 0; query < view.queries(); query++) {
      attention.output(query, out, query * HEAD);
    }
    return out;
  }

  private int[] shuffled(int count) {
    int[] blocks = IntStream.range(0, count).toArray();
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int swapped = blocks[i];
      blocks[i] = blocks[j];
      blocks[j] = swapped;
    }
    return blocks;
  }

  private double[] plain(float[] query, int at, int from, int to, float softcap) {
    double[] out = new double[HEAD];
    double sum = 0;
    for (int position = from; position < to; position++) {
      double score = 0;
      for (int i = 0; i < HEAD; i++) {
        score += query[at + i] * keys[position][i];
      }
      score *= SCALE;
      double weight = Math.exp(softcap == 0 ? score : softcap * Math.tanh(score / softcap));
      sum += weight;
      for (int i = 0; i < HEAD; i++) {
        out[i] += weight * values[position][i];
      }
    }
    for (int i = 0; i < HEAD; i++) {
      out[i] /= sum;
    }
    return out;
  }
}
