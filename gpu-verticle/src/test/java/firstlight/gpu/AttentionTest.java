package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against plain arithmetic, over scattered Blocks. */
class AttentionTest {
  private static final int HEAD = 96;
  private static final int KV_HEADS = 2;
  private static final int POSITIONS = 150;
  private static final float SCALE = 0.3f;

  private final Random random = new Random(Long.getLong("seed", 1));
  private final float[][] keys = rows();
  private final float[][] values = rows();

  private float[][] rows() {
    return IntStream.range(0, POSITIONS).mapToObj(_ -> gaussians(HEAD)).toArray(float[][]::new);
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
    "0, 1, 16, 0",
    "0, 16, 16, 0",
    "0, 17, 16, 0",
    "0, 150, 16, 0",
    "0, 150, 32, 0",
    "63, 127, 16, 0",
    "17, 18, 16, 0",
    "99, 150, 48, 0",
    "0, 150, 16, 5"
  })
  void a_query_gets_the_values_whose_keys_fit(int from, int to, int blockTokens, float softcap) {
    int[] blocks = shuffled(POSITIONS / blockTokens + 1);
    KvMemory memory = new KvMemory(2, KV_HEADS, HEAD, blocks.length, blockTokens);
    for (int position = 0; position < POSITIONS; position++) {
      int part = memory.at(blocks[position / blockTokens], 1);
      memory.storeKey(1, part, position % blockTokens, keys[position], 0);
      memory.storeValue(1, part, position % blockTokens, values[position], 0);
    }
    float[] query = gaussians(HEAD + 3);
    float[] out = new float[HEAD + 7];
    new Attention(memory, HEAD, POSITIONS, SCALE, softcap)
        .attend(new Attention.View(1, 1, blocks, from, to), query, 3, out, 7);
    double[] expected = plain(query, from, to, softcap);
    for (int i = 0; i < HEAD; i++) {
      assertThat((double) out[7 + i]).isCloseTo(expected[i], within(2e-5));
    }
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

  private double[] plain(float[] query, int from, int to, float softcap) {
    double[] out = new double[HEAD];
    double sum = 0;
    for (int position = from; position < to; position++) {
      double score = 0;
      for (int i = 0; i < HEAD; i++) {
        score += query[3 + i] * keys[position][i];
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
