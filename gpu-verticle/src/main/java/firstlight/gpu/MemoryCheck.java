package firstlight.gpu;

import java.util.Arrays;

/** Whether the kernels that measurements rest on do what they say. */
final class MemoryCheck {
  private static final long SEED = 77;
  private static final int ROWS = 9;
  private static final int COLUMNS = 1024;

  private MemoryCheck() {}

  static void run(CheckBench bench) {
    try (CheckMemory memory = bench.memory()) {
      for (KernelArguments.FillKind kind :
          new KernelArguments.FillKind[] {
            KernelArguments.FillKind.BF16, KernelArguments.FillKind.HALF
          }) {
        fill(
            bench,
            memory,
            KernelArguments.Fill.numbers(kind, memory.room(20_002), 10_001, SEED, 0.5));
      }
      for (CudaWeightType type :
          new CudaWeightType[] {CudaWeightType.Q8_0, CudaWeightType.Q4_K, CudaWeightType.Q6_K}) {
        long rowBytes = type.rowBytes(COLUMNS);
        long at = memory.room(ROWS * rowBytes);
        CudaMatrix matrix = new CudaMatrix(at, 0, type, ROWS, COLUMNS, rowBytes);
        fill(bench, memory, KernelArguments.Fill.blocks(matrix, SEED, 0.01));
      }
      read(bench, memory);
    }
  }

  private static void fill(CheckBench bench, CheckMemory memory, KernelArguments.Fill fill) {
    memory.run(bench.kernels().fill(fill));
    short[] expected = new short[(int) fill.words()];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = word(fill, i);
    }
    short[] filled = memory.readShorts(fill.to());
    String what = "%s in blocks of %d, bits".formatted(fill.kind(), fill.blockWords());
    bench.require("fill_random", what, Arrays.equals(filled, expected));
  }

  private static short word(KernelArguments.Fill fill, int at) {
    long bits = Draws.mix(fill.seed() + Draws.GAMMA * (at + 1L));
    int some = (int) (bits & 0xffff);
    if (fill.kind() == KernelArguments.FillKind.BLOCKS) {
      int scale = at % fill.blockWords() - fill.firstScale();
      return scale >= 0 && scale < fill.scales()
          ? Float.floatToFloat16((some + 32768) * fill.factor())
          : (short) some;
    }
    int sum = some;
    for (int shift = 16; shift < 64; shift += 16) {
      sum += (int) (bits >>> shift & 0xffff);
    }
    float x = (sum - 131070) * fill.factor();
    return fill.kind() == KernelArguments.FillKind.HALF ? Float.floatToFloat16(x) : Bf16.of(x);
  }

  private static void read(CheckBench bench, CheckMemory memory) {
    int[] words = new int[4 * 5003];
    for (int i = 0; i < words.length; i++) {
      words[i] = (int) Draws.mix(Draws.GAMMA * i);
    }
    long count = words.length / 4;
    long out = memory.room((long) Kernels.readers(count) * Integer.BYTES);
    memory.run(bench.kernels().read(new KernelArguments.Reading(memory.ints(words), count, out)));
    int all = Arrays.stream(memory.readInts(out)).reduce(0, (a, b) -> a ^ b);
    bench.require(
        "read_words", "all words", all == Arrays.stream(words).reduce(0, (a, b) -> a ^ b));
  }
}
