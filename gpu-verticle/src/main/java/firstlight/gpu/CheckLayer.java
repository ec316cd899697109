package firstlight.gpu;

import java.util.Random;
import java.util.stream.IntStream;

/** One layer's part of a KV memory with random numbers, and where each of them stands. */
final class CheckLayer {
  static final int BLOCKS = 64;
  static final int KV_HEADS = 2;
  private static final int LAYERS = 2;

  private final short[] halves;
  private final KernelArguments.Memory memory;

  CheckLayer(CheckMemory on, int headSize, int blockTokens, Random random) {
    int perLayer = 2 * KV_HEADS * headSize * blockTokens;
    halves = halves(BLOCKS * LAYERS * perLayer, random);
    memory =
        new KernelArguments.Memory(
            on.shorts(halves), (long) LAYERS * perLayer, perLayer, blockTokens, headSize, KV_HEADS);
  }

  static short[] halves(int count, Random random) {
    short[] halves = new short[count];
    for (int i = 0; i < count; i++) {
      halves[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    return halves;
  }

  /** So many Blocks, none of them twice. */
  static int[] blocks(int count, Random random) {
    return random.ints(0, BLOCKS).distinct().limit(count).toArray();
  }

  /** The block tables of all Slices, one after another. */
  static int[] tables(StepRows rows) {
    return rows.slices().stream().flatMapToInt(slice -> IntStream.of(slice.blocks())).toArray();
  }

  /** Where the block table of each row begins. */
  static int[] tableOf(StepRows rows) {
    int[] tableOf = new int[rows.count()];
    int before = 0;
    int slice = 0;
    for (int row = 0; row < tableOf.length; row++) {
      while (slice < rows.sliceOf()[row]) {
        before += rows.slices().get(slice++).blocks().length;
      }
      tableOf[row] = before;
    }
    return tableOf;
  }

  /** What was there in the beginning. */
  short[] halves() {
    return halves;
  }

  KernelArguments.Memory memory() {
    return memory;
  }

  int headSize() {
    return memory.headSize();
  }

  private int part(int[] blocks, int position, int kvHead) {
    int keys = memory.headSize() * memory.blockTokens();
    int block = blocks[position / memory.blockTokens()];
    return (block * LAYERS + 1) * 2 * KV_HEADS * keys + kvHead * 2 * keys;
  }

  double key(short[] from, int[] blocks, int position, int kvHead, int element) {
    int inBlock = position % memory.blockTokens() * memory.headSize();
    return Float.float16ToFloat(from[part(blocks, position, kvHead) + inBlock + element]);
  }

  double value(short[] from, int[] blocks, int position, int kvHead, int element) {
    int values = part(blocks, position, kvHead) + memory.headSize() * memory.blockTokens();
    int at = values + element * memory.blockTokens() + position % memory.blockTokens();
    return Float.float16ToFloat(from[at]);
  }

  /** A head's whole key of a position. */
  double[] key(short[] from, int[] blocks, int position, int kvHead) {
    return IntStream.range(0, headSize())
        .mapToDouble(element -> key(from, blocks, position, kvHead, element))
        .toArray();
  }

  double[] value(short[] from, int[] blocks, int position, int kvHead) {
    return IntStream.range(0, headSize())
        .mapToDouble(element -> value(from, blocks, position, kvHead, element))
        .toArray();
  }
}
