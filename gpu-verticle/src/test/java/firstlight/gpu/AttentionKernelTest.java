package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rotation, KV memory and attention on the simulated driver. */
class AttentionKernelTest {
  private static final long SEED = Long.getLong("seed", 1);
  private static final int NO_WINDOW = AttentionCase.NO_WINDOW;

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

  private CheckLayer layer(int headSize, int blockTokens) {
    return new CheckLayer(gpu.memory, headSize, blockTokens, random);
  }

  private int[] blocks(int count) {
    return CheckLayer.blocks(count, random);
  }

  private static Slice slice(int start, int count, int[] blocks) {
    return CheckSlices.silent(start, count, blocks);
  }

  private static StepRows rows(Slice... slices) {
    return CheckSlices.rows(List.of(slices));
  }

  /** Bits of the output, with splits dealt out or not. */
  private static short[] run(AttentionCase of, short[] queries, boolean isDealt) {
    return of.run(gpu.memory, gpu.kernels, queries, isDealt);
  }

  private void check(AttentionCase of) {
    short[] queries = of.queries(random);
    short[] whole = run(of, queries, false);
    KernelAssert.within(
        AttentionCheck.TOLERANCE,
        KernelDistance.flat(Bf16.rows(whole, of.width())),
        of.expected(queries),
        "-Dseed=" + SEED + " " + of.rows().slices().size() + " Slices");
    assertThat(run(of, queries, true)).as("splits dealt out").isEqualTo(whole);
  }

  @ParameterizedTest
  @ValueSource(ints = {32, 64, 96, 128, 256})
  void prompts_and_single_tokens_attend_to_what_was_before_them(int headSize) {
    CheckLayer layer = layer(headSize, 16);
    StepRows rows =
        rows(
            slice(0, 1, blocks(1)),
            slice(299, 1, blocks(19)),
            slice(0, 19, blocks(2)),
            slice(250, 11, blocks(17)));
    check(new AttentionCase(layer, rows, 3, 0, NO_WINDOW));
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "4, 16", "8, 32", "16, 48", "17, 16", "40, 16"})
  void any_group_of_heads_and_size_of_blocks_will_do(int group, int blockTokens) {
    CheckLayer layer = layer(64, blockTokens);
    StepRows rows = rows(slice(40, 3, blocks(3)), slice(63, 1, blocks(4)));
    check(new AttentionCase(layer, rows, group, 0, NO_WINDOW));
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "0, 20", "5, 20", "5, 300", "2, 1000000"})
  void windows_and_softcaps_are_kept_to(float softcap, int window) {
    CheckLayer layer = layer(64, 16);
    StepRows rows =
        rows(slice(700, 1, blocks(44)), slice(500, 37, blocks(34)), slice(3, 2, blocks(1)));
    check(new AttentionCase(layer, rows, 2, softcap, window));
  }

  @Test
  void a_query_gets_the_same_bits_alone_and_among_others() {
    CheckLayer layer = layer(64, 16);
    int[] table = blocks(33);
    AttentionCase all = new AttentionCase(layer, rows(slice(470, 43, table)), 3, 0, NO_WINDOW);
    short[] queries = all.queries(random);
    short[] expected = run(all, queries, false);
    int width = all.width();
    for (int row : new int[] {0, 1, 7, 42}) {
      AttentionCase one =
          new AttentionCase(layer, rows(slice(470 + row, 1, table)), 3, 0, NO_WINDOW);
      short[] own = Arrays.copyOfRange(queries, row * width, (row + 1) * width);
      assertThat(run(one, own, row % 2 == 0))
          .as("row " + row)
          .isEqualTo(Arrays.copyOfRange(expected, row * width, (row + 1) * width));
    }
  }

  @Test
  void the_order_of_threads_changes_no_bit() {
    CheckLayer layer = layer(64, 16);
    AttentionCase of = new AttentionCase(layer, rows(slice(290, 9, blocks(19))), 3, 0, NO_WINDOW);
    short[] queries = of.queries(random);
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
    RotationCase of = RotationCase.random(gpu.memory, isInterleaved, rotated, hasNorms, random);
    RotationCase.Outcome outcome = of.run(gpu.memory, gpu.kernels);
    for (int row = 0; row < of.rows().count(); row++) {
      for (int head = 0; head < RotationCase.HEADS; head++) {
        assertTurned(of, outcome.queries(), row, head);
      }
      for (int head = 0; head < CheckLayer.KV_HEADS; head++) {
        assertKept(of, outcome.memory(), row, head);
      }
    }
  }

  private static void assertTurned(RotationCase of, short[] bits, int row, int head) {
    int at = (row * RotationCase.HEADS + head) * RotationCase.HEAD_SIZE;
    double[] kept = new double[RotationCase.HEAD_SIZE];
    for (int i = 0; i < kept.length; i++) {
      kept[i] = Float.float16ToFloat(bits[at + i]);
    }
    double[] wanted = of.turned(of.queries(), at, of.rows().positions()[row]);
    KernelAssert.within(RotationCheck.TOLERANCE, kept, wanted, "query");
  }

  private static void assertKept(RotationCase of, short[] memory, int row, int head) {
    int at = (row * CheckLayer.KV_HEADS + head) * RotationCase.HEAD_SIZE;
    int position = of.rows().positions()[row];
    int[] blocks = of.rows().slice(row).blocks();
    KernelAssert.within(
        RotationCheck.TOLERANCE,
        of.layer().key(memory, blocks, position, head),
        of.turned(of.keys(), at, position),
        "key");
    KernelAssert.within(
        RotationCheck.TOLERANCE,
        of.layer().value(memory, blocks, position, head),
        Bf16.doubles(Arrays.copyOfRange(of.values(), at, at + RotationCase.HEAD_SIZE)),
        "value");
  }
}
