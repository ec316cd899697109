package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rotation, KV memory and attention on the simulated driver. */
class AttentionKernelTest {
  private static final long SEED = Long.getLong("seed", 1);

  /** Weights and values are halves, and the output is bf16. */
  private static final double TOLERANCE = 2.5e-3;

  private static final double HALF_TOLERANCE = 3.5e-4;
  private static final int BLOCKS = 64;
  private static final int KV_HEADS = 2;
  private static final int LAYERS = 2;

  private static SimulatedGpu gpu;

  private final Random random = new Random(SEED);

  @BeforeAll
  static void open() {
    gpu = SimulatedGpu.open();
  }

  @AfterAll
  static void close() {
    if (gpu != null) {
      gpu.close();
    }
  }

  /** A layer's memory with anything in it; positions are halves of keys and values. */
  private final class Layer {
    private final int headSize;
    private final int blockTokens;
    private final short[] halves;
    private final KernelArguments.Memory memory;

    Layer(int headSize, int blockTokens) {
      this.headSize = headSize;
      this.blockTokens = blockTokens;
      int perLayer = 2 * KV_HEADS * headSize * blockTokens;
      halves = new short[BLOCKS * LAYERS * perLayer];
      for (int i = 0; i < halves.length; i++) {
        halves[i] = Float.floatToFloat16((float) random.nextGaussian());
      }
      memory =
          new KernelArguments.Memory(
              gpu.shorts(halves),
              (long) LAYERS * perLayer,
              perLayer,
              blockTokens,
              headSize,
              KV_HEADS);
    }

    private int part(int[] blocks, int position, int kvHead) {
      int keys = headSize * blockTokens;
      int block = blocks[position / blockTokens];
      return (block * LAYERS + 1) * 2 * KV_HEADS * keys + kvHead * 2 * keys;
    }

    double key(short[] from, int[] blocks, int position, int kvHead, int element) {
      int at = part(blocks, position, kvHead) + position % blockTokens * headSize + element;
      return Float.float16ToFloat(from[at]);
    }

    double value(short[] from, int[] blocks, int position, int kvHead, int element) {
      int at = part(blocks, position, kvHead) + headSize * blockTokens;
      return Float.float16ToFloat(from[at + element * blockTokens + position % blockTokens]);
    }
  }

  /** A Step and what its attention is made of. */
  private record Case(Layer layer, StepRows rows, int group, float softcap, int window) {
    double[] expected(short[] queries) {
      int size = layer.headSize;
      int heads = KV_HEADS * group;
      double[] out = new double[rows.count() * heads * size];
      for (int row = 0; row < rows.count(); row++) {
        for (int head = 0; head < heads; head++) {
          attend(queries, row, head, out, (row * heads + head) * size);
        }
      }
      return out;
    }

    private void attend(short[] queries, int row, int head, double[] out, int at) {
      int own = rows.positions()[row];
      int from = (int) Math.max(0, own + 1L - window);
      int[] blocks = rows.slice(row).blocks();
      double[] weights = new double[own + 1];
      double sum = 0;
      for (int position = from; position <= own; position++) {
        double score = 0;
        for (int i = 0; i < layer.headSize; i++) {
          score +=
              Float.float16ToFloat(queries[at + i])
                  * layer.key(layer.halves, blocks, position, head / group, i);
        }
        score *= scale();
        weights[position] = Math.exp(softcap > 0 ? softcap * Math.tanh(score / softcap) : score);
        sum += weights[position];
      }
      for (int position = from; position <= own; position++) {
        for (int i = 0; i < layer.headSize; i++) {
          out[at + i] +=
              weights[position]
                  / sum
                  * layer.value(layer.halves, blocks, position, head / group, i);
        }
      }
    }

    float scale() {
      return (float) (1 / Math.sqrt(layer.headSize));
    }
  }

  private static Slice slice(int start, int count, int[] blocks) {
    return Steps.slice("g", new int[count], start, blocks, 0);
  }

  private int[] blocks(int count) {
    return random.ints(0, BLOCKS).distinct().limit(count).toArray();
  }

  private short[] queries(Case of) {
    short[] queries = new short[of.rows.count() * KV_HEADS * of.group * of.layer.headSize];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    return queries;
  }

  /** Runs the attention, with splits dealt out or not; bits of the output in the kernels' order. */
  private short[] run(Case of, short[] queries, boolean isDealt) {
    int[] tables = of.rows.slices().stream().flatMapToInt(s -> IntStream.of(s.blocks())).toArray();
    int[] tableOf = new int[of.rows.count()];
    int before = 0;
    for (int row = 0, slice = 0; row < tableOf.length; row++) {
      while (slice < of.rows.sliceOf()[row]) {
        before += of.rows.slices().get(slice++).blocks().length;
      }
      tableOf[row] = before;
    }
    StepTiles tiles = StepTiles.of(of.rows, tableOf, of.group);
    int splits = StepBucket.enough(tiles.splitsMax(), 1 << 20);
    int[] words =
        tiles.tiles().stream()
            .flatMapToInt(
                t -> IntStream.of(t.row(), t.position(), t.table(), t.firstSlot(), t.slots()))
            .toArray();
    int bucket = tiles.tiles().size() + 3;
    long out = gpu.room(queries.length * 2L);
    long partials = (long) bucket * KV_HEADS * splits * 16 * (of.layer.headSize + 2);
    KernelArguments.Attend told =
        new KernelArguments.Attend(
            out,
            gpu.room(partials * Float.BYTES),
            gpu.shorts(queries),
            gpu.ints(words),
            gpu.ints(tables),
            new KernelArguments.Scores(of.group, of.scale(), of.softcap, of.window),
            of.layer.memory,
            gpu.counts(of.rows.count(), 0, tiles.tiles().size(), splits));
    if (isDealt) {
      gpu.gpu.stream().launch(gpu.kernels.attendSplits(told, splits, bucket));
      gpu.run(gpu.kernels.fold(told, bucket));
    } else {
      gpu.run(gpu.kernels.attend(told, bucket));
    }
    return gpu.shorts(out);
  }

  private void check(Case of) {
    short[] queries = queries(of);
    short[] whole = run(of, queries, false);
    int width = KV_HEADS * of.group * of.layer.headSize;
    KernelAssert.within(
        TOLERANCE,
        KernelDistance.flat(Bf16.rows(whole, width)),
        of.expected(queries),
        "-Dseed=" + SEED + " " + of.rows.slices().size() + " Slices");
    assertThat(run(of, queries, true)).as("splits dealt out").isEqualTo(whole);
  }

  private static StepRows rows(Slice... slices) {
    return StepRows.of(new RunStep(1, List.of(slices)));
  }

  @ParameterizedTest
  @ValueSource(ints = {32, 64, 96, 128, 256})
  void prompts_and_single_tokens_attend_to_what_was_before_them(int headSize) {
    Layer layer = new Layer(headSize, 16);
    StepRows rows =
        rows(
            slice(0, 1, blocks(1)),
            slice(299, 1, blocks(19)),
            slice(0, 19, blocks(2)),
            slice(250, 11, blocks(17)));
    check(new Case(layer, rows, 3, 0, Integer.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "4, 16", "8, 32", "16, 48", "17, 16", "40, 16"})
  void any_group_of_heads_and_size_of_blocks_will_do(int group, int blockTokens) {
    Layer layer = new Layer(64, blockTokens);
    StepRows rows = rows(slice(40, 3, blocks(3)), slice(63, 1, blocks(4)));
    check(new Case(layer, rows, group, 0, Integer.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "0, 20", "5, 20", "5, 300", "2, 1000000"})
  void windows_and_softcaps_are_kept_to(float softcap, int window) {
    Layer layer = new Layer(64, 16);
    StepRows rows =
        rows(slice(700, 1, blocks(44)), slice(500, 37, blocks(34)), slice(3, 2, blocks(1)));
    check(new Case(layer, rows, 2, softcap, window));
  }

  @Test
  void a_query_gets_the_same_bits_alone_and_among_others_and_from_other_blocks() {
    Layer layer = new Layer(64, 16);
    int[] table = blocks(33);
    Case all = new Case(layer, rows(slice(470, 43, table)), 3, 0, Integer.MAX_VALUE);
    short[] queries = queries(all);
    short[] expected = run(all, queries, false);
    int width = KV_HEADS * 3 * 64;
    for (int row : new int[] {0, 1, 7, 42}) {
      Case one = new Case(layer, rows(slice(470 + row, 1, table)), 3, 0, Integer.MAX_VALUE);
      short[] own = Arrays.copyOfRange(queries, row * width, (row + 1) * width);
      assertThat(run(one, own, row % 2 == 0))
          .as("row " + row)
          .isEqualTo(Arrays.copyOfRange(expected, row * width, (row + 1) * width));
    }
  }

  @Test
  void the_order_of_threads_changes_no_bit() {
    Layer layer = new Layer(64, 16);
    Case of = new Case(layer, rows(slice(290, 9, blocks(19))), 3, 0, Integer.MAX_VALUE);
    short[] queries = queries(of);
    short[] natural = run(of, queries, false);
    for (int order = 1; order <= 10; order++) {
      SimulatedDriver.order(order);
      assertThat(run(of, queries, order % 2 == 0)).isEqualTo(natural);
    }
    SimulatedDriver.order(0);
  }

  @ParameterizedTest
  @CsvSource({"false, 64, false", "true, 64, false", "false, 40, true", "true, 64, true"})
  void heads_are_turned_and_kept(boolean isInterleaved, int rotated, boolean hasNorms) {
    int headSize = 64;
    int heads = 6;
    Layer layer = new Layer(headSize, 16);
    StepRows rows = rows(slice(14, 5, blocks(2)), slice(33, 1, blocks(3)));
    int count = rows.count();
    float[] queries = Bf16.gaussians(count * heads * headSize, random);
    float[] keys = Bf16.gaussians(count * KV_HEADS * headSize, random);
    float[] values = Bf16.gaussians(count * KV_HEADS * headSize, random);
    float[] norm = Bf16.gaussians(headSize, random);
    float[] turns = turns(rotated / 2, 64);
    int[] tables =
        IntStream.concat(
                IntStream.of(rows.slices().get(0).blocks()),
                IntStream.of(rows.slices().get(1).blocks()))
            .toArray();
    int[] tableOf = new int[count];
    tableOf[count - 1] = 2;
    long out = gpu.room(queries.length * 2L);
    KernelArguments.Heads told =
        new KernelArguments.Heads(
            gpu.floats(queries),
            gpu.floats(keys),
            gpu.floats(values),
            heads,
            hasNorms ? gpu.floats(norm) : 0,
            hasNorms ? gpu.floats(norm) : 0,
            1e-6f,
            gpu.floats(turns),
            rotated / 2,
            isInterleaved);
    gpu.run(
        gpu.kernels.rotate(
            new KernelArguments.Rotation(
                told,
                gpu.ints(tables),
                gpu.ints(tableOf),
                gpu.ints(rows.positions()),
                out,
                layer.memory,
                gpu.counts(count, 0, 0, 1)),
            8));
    Turned turned = new Turned(turns, rotated / 2, isInterleaved, hasNorms ? norm : new float[0]);
    short[] after = gpu.shorts(layer.memory.base());
    short[] bits = gpu.shorts(out);
    for (int row = 0; row < count; row++) {
      int position = rows.positions()[row];
      for (int head = 0; head < heads; head++) {
        int at = (row * heads + head) * headSize;
        double[] kept = new double[headSize];
        for (int i = 0; i < headSize; i++) {
          kept[i] = Float.float16ToFloat(bits[at + i]);
        }
        double[] wanted = turned.of(queries, at, headSize, position);
        KernelAssert.within(HALF_TOLERANCE, kept, wanted, "query");
      }
      for (int head = 0; head < KV_HEADS; head++) {
        int at = (row * KV_HEADS + head) * headSize;
        double[] key = turned.of(keys, at, headSize, position);
        double[] value = Bf16.doubles(Arrays.copyOfRange(values, at, at + headSize));
        assertKept(layer, after, rows.slice(row).blocks(), position, head, key, value);
      }
    }
  }

  private static void assertKept(
      Layer layer,
      short[] memory,
      int[] blocks,
      int position,
      int head,
      double[] key,
      double[] value) {
    double[] keptKey = new double[layer.headSize];
    double[] keptValue = new double[layer.headSize];
    for (int i = 0; i < layer.headSize; i++) {
      keptKey[i] = layer.key(memory, blocks, position, head, i);
      keptValue[i] = layer.value(memory, blocks, position, head, i);
    }
    KernelAssert.within(HALF_TOLERANCE, keptKey, key, "key");
    KernelAssert.within(HALF_TOLERANCE, keptValue, value, "value");
  }

  private static float[] turns(int pairs, int positions) {
    float[] turns = new float[2 * pairs * positions];
    for (int i = 0; i < pairs * positions; i++) {
      double angle = i / pairs * Math.pow(10_000, -(double) (i % pairs) / pairs);
      turns[2 * i] = (float) Math.cos(angle);
      turns[2 * i + 1] = (float) Math.sin(angle);
    }
    return turns;
  }

  /** What a head becomes. */
  private record Turned(float[] turns, int pairs, boolean isInterleaved, float[] norm) {
    double[] of(float[] from, int at, int size, int position) {
      double[] x = Bf16.doubles(Arrays.copyOfRange(from, at, at + size));
      if (norm.length > 0) {
        double sum = Arrays.stream(x).map(each -> each * each).sum();
        for (int i = 0; i < size; i++) {
          x[i] = x[i] / Math.sqrt(sum / size + 1e-6) * norm[i];
        }
      }
      for (int i = 0; i < pairs; i++) {
        int first = isInterleaved ? 2 * i : i;
        int second = isInterleaved ? 2 * i + 1 : i + pairs;
        double cosine = turns[2 * (position * pairs + i)];
        double sine = turns[2 * (position * pairs + i) + 1];
        double a = x[first];
        double b = x[second];
        x[first] = a * cosine - b * sine;
        x[second] = a * sine + b * cosine;
      }
      return x;
    }
  }
}
