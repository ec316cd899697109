package firstlight.gpu;

import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Attention beside plain arithmetic with doubles, with splits of the context dealt out and not. */
final class AttentionCheck {
  /** Weights and values are halves, and the output is bf16. */
  static final double TOLERANCE = 2.5e-3;

  private static final int NO_WINDOW = AttentionCase.NO_WINDOW;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Random random = new Random(1);

  private AttentionCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  static void run(CheckBench bench) {
    for (int headSize : new int[] {32, 64, 96, 128, 256}) {
      try (CheckMemory memory = bench.memory()) {
        new AttentionCheck(bench, memory).mixed(headSize);
      }
    }
    try (CheckMemory memory = bench.memory()) {
      AttentionCheck check = new AttentionCheck(bench, memory);
      for (int[] sizes : new int[][] {{1, 16}, {4, 16}, {8, 32}, {16, 48}, {17, 16}, {40, 16}}) {
        check.group(sizes[0], sizes[1]);
      }
      for (int[] cut : new int[][] {{0, 1}, {0, 20}, {5, 20}, {5, 300}, {2, NO_WINDOW}}) {
        check.window(cut[0], cut[1]);
      }
    }
  }

  private Slice slice(int start, int count, int blockTokens) {
    int blocks = (start + count + blockTokens - 1) / blockTokens;
    return CheckSlices.silent(start, count, CheckLayer.blocks(blocks, random));
  }

  private void mixed(int headSize) {
    CheckLayer layer = new CheckLayer(memory, headSize, 16, random);
    StepRows rows =
        CheckSlices.rows(
            List.of(slice(0, 1, 16), slice(299, 1, 16), slice(0, 19, 16), slice(250, 11, 16)));
    check("prompts and tokens", new AttentionCase(layer, rows, 3, 0, NO_WINDOW));
  }

  private void group(int group, int blockTokens) {
    CheckLayer layer = new CheckLayer(memory, 64, blockTokens, random);
    StepRows rows = CheckSlices.rows(List.of(slice(40, 3, blockTokens), slice(63, 1, blockTokens)));
    String what = "groups of %d, Blocks of %d".formatted(group, blockTokens);
    check(what, new AttentionCase(layer, rows, group, 0, NO_WINDOW));
  }

  private void window(float softcap, int window) {
    CheckLayer layer = new CheckLayer(memory, 64, 16, random);
    StepRows rows =
        CheckSlices.rows(List.of(slice(700, 1, 16), slice(500, 37, 16), slice(3, 2, 16)));
    String what = "softcap %.0f, window %d".formatted(softcap, window);
    check(what, new AttentionCase(layer, rows, 2, softcap, window));
  }

  private void check(String what, AttentionCase of) {
    short[] queries = of.queries(random);
    short[] whole = of.run(memory, bench.kernels(), queries, false);
    String kernel = "attend_" + of.layer().headSize();
    double[] actual = KernelDistance.flat(Bf16.rows(whole, of.width()));
    bench.compare(kernel, what, TOLERANCE, actual, of.expected(queries));
    bench.require(
        "attend_split_" + of.layer().headSize(),
        what + ", bits of " + kernel,
        Arrays.equals(of.run(memory, bench.kernels(), queries, true), whole));
  }
}
