package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KvMemoryTest {
  private static final int HEAD = 32;
  private static final int TOKENS = 16;

  private static KvMemory memory(GpuConfig.KvType type, int blocks) {
    return new KvMemory(new KvMemory.Shape(3, 2, HEAD, TOKENS, type), blocks);
  }

  private static float[] value(KvMemory memory, long part, int inBlock) {
    float[] value = new float[HEAD];
    memory.loadValues(memory.values(part) + inBlock * HEAD, HEAD, value);
    return value;
  }

  @Test
  void every_finite_half_is_read_as_the_number_it_is() {
    try (KvMemory memory = memory(GpuConfig.KvType.F16, 1)) {
      long part = memory.part(0, 0, 0);
      for (int bits = 0; bits < 1 << 16; bits += HEAD) {
        float[] numbers = new float[HEAD];
        for (int i = 0; i < HEAD; i++) {
          float number = Float.float16ToFloat((short) (bits + i));
          numbers[i] = Float.isFinite(number) ? number : 0;
        }
        memory.storeValue(part, 3, numbers, 0);
        assertThat(value(memory, part, 3)).containsExactly(numbers);
      }
    }
  }

  @Test
  void parts_do_not_touch_one_another() {
    for (GpuConfig.KvType type : GpuConfig.KvType.values()) {
      try (KvMemory memory = memory(type, 2)) {
        for (int number = 0; number < 12 * TOKENS; number++) {
          float[] row = new float[HEAD];
          Arrays.fill(row, number);
          memory.storeValue(part(memory, number), number % TOKENS, row, 0);
          Arrays.fill(row, -number);
          memory.storeKey(part(memory, number), number % TOKENS, row, 0);
        }
        for (int number = 0; number < 12 * TOKENS; number++) {
          assertThat(value(memory, part(memory, number), number % TOKENS)).containsOnly(number);
          float[] keys = new float[HEAD * Lanes.COUNT];
          int vector = number % TOKENS / Lanes.COUNT * Lanes.COUNT;
          memory.loadKeys(part(memory, number) + vector, keys, 0, Lanes.COUNT);
          assertThat(keys[5 * Lanes.COUNT + number % TOKENS - vector]).isEqualTo(-number);
        }
      }
    }
  }

  private static long part(KvMemory memory, int number) {
    int part = number / TOKENS;
    return memory.part(part / 2 % 3, part / 6, part % 2);
  }

  @Test
  void blocks_that_were_never_used_are_zeros() {
    try (KvMemory memory = memory(GpuConfig.KvType.F32, 100)) {
      assertThat(value(memory, memory.part(2, 99, 1), 15)).containsOnly(0);
    }
  }
}
