package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Blocks put together by hand, with the numbers they must give. */
class BlocksTest {
  private static final short HALF = Float.floatToFloat16(0.5f);
  private static final short TWO = Float.floatToFloat16(2f);

  private ByteBuffer block;

  @Test
  void f32_is_taken_as_it_is() {
    begin(TensorType.F32, 3).putFloat(1.5f).putFloat(-0f).putFloat(Float.MIN_VALUE);
    assertThat(decoded(TensorType.F32, 3)).containsExactly(1.5f, -0f, Float.MIN_VALUE);
  }

  @Test
  void f16_has_five_bits_of_exponent_and_its_own_small_numbers() {
    begin(TensorType.F16, 4).putShort((short) 0x3C00).putShort((short) 0xC100);
    block.putShort((short) 0x0001).putShort((short) 0x7BFF);
    assertThat(decoded(TensorType.F16, 4)).containsExactly(1f, -2.5f, 0x1p-24f, 65504f);
  }

  @Test
  void bf16_is_the_upper_half_of_a_float() {
    begin(TensorType.BF16, 2).putShort((short) 0x3F80).putShort((short) 0xC049);
    assertThat(decoded(TensorType.BF16, 2)).containsExactly(1f, -3.140625f);
  }

  @Test
  void q4_0_counts_from_minus_eight() {
    begin(TensorType.Q4_0, 1).putShort(HALF).put((byte) 0xF0).put((byte) 0x19);
    float[] numbers = decoded(TensorType.Q4_0, 32);
    assertThat(numbers[0]).isEqualTo(-4f);
    assertThat(numbers[16]).isEqualTo(3.5f);
    assertThat(numbers[1]).isEqualTo(0.5f);
    assertThat(numbers[17]).isEqualTo(-3.5f);
    assertThat(numbers[31]).isEqualTo(-4f);
  }

  @Test
  void q4_1_counts_from_its_minimum() {
    begin(TensorType.Q4_1, 1).putShort(HALF).putShort(TWO).put((byte) 0xF0).put((byte) 0x19);
    float[] numbers = decoded(TensorType.Q4_1, 32);
    assertThat(numbers[0]).isEqualTo(2f);
    assertThat(numbers[16]).isEqualTo(9.5f);
    assertThat(numbers[1]).isEqualTo(6.5f);
    assertThat(numbers[17]).isEqualTo(2.5f);
  }

  @Test
  void q5_0_has_fifth_bits_and_counts_from_minus_sixteen() {
    begin(TensorType.Q5_0, 1).putShort(HALF).putInt(1 | 1 << 17).put((byte) 0xF3).put((byte) 0x21);
    float[] numbers = decoded(TensorType.Q5_0, 32);
    assertThat(numbers[0]).isEqualTo(1.5f);
    assertThat(numbers[16]).isEqualTo(-0.5f);
    assertThat(numbers[1]).isEqualTo(-7.5f);
    assertThat(numbers[17]).isEqualTo(1f);
    assertThat(numbers[31]).isEqualTo(-8f);
  }

  @Test
  void q5_1_has_fifth_bits_and_counts_from_its_minimum() {
    begin(TensorType.Q5_1, 1).putShort(HALF).putShort(TWO).putInt(1 | 1 << 31).put((byte) 0xF3);
    float[] numbers = decoded(TensorType.Q5_1, 32);
    assertThat(numbers[0]).isEqualTo(11.5f);
    assertThat(numbers[16]).isEqualTo(9.5f);
    assertThat(numbers[15]).isEqualTo(2f);
    assertThat(numbers[31]).isEqualTo(10f);
  }

  @Test
  void q8_0_is_a_scale_and_signed_bytes() {
    begin(TensorType.Q8_0, 1).putShort(HALF).put((byte) -128).put((byte) 127);
    float[] numbers = decoded(TensorType.Q8_0, 32);
    assertThat(numbers).startsWith(-64f, 63.5f, 0f);
  }

  @Test
  void q4_k_scales_groups_of_32_by_six_bits() {
    begin(TensorType.Q4_K, 1).putShort(HALF).putShort(TWO).put(scales());
    block.put(16, (byte) 0x5A).put(16 + 32, (byte) 0x33).put(16 + 127, (byte) 0xF1);
    float[] numbers = decoded(TensorType.Q4_K, 256);
    assertThat(numbers[0]).as("group 0: low nibble").isEqualTo(0.5f * 63 * 0xA - 2f * 1);
    assertThat(numbers[32]).as("group 1: high nibble").isEqualTo(0.5f * 2 * 5 - 2f * 62);
    assertThat(numbers[64]).as("group 2").isEqualTo(0.5f * 5 * 3 - 2f * 4);
    assertThat(numbers[223]).as("group 6, last").isEqualTo(0.5f * 41 * 1 - 2f * 6);
    assertThat(numbers[255]).as("group 7, last").isEqualTo(0.5f * 7 * 15 - 2f * 24);
    assertThat(numbers[128]).as("group 4: 0 less its minimum").isEqualTo(-2f * 18);
  }

  @Test
  void q5_k_adds_a_fifth_bit_for_each_group() {
    begin(TensorType.Q5_K, 1).putShort(HALF).putShort(TWO).put(scales());
    block.put(16, (byte) 0b10000001).put(16 + 31, (byte) 0b10000000);
    block.put(48, (byte) 0x5A).put(48 + 127, (byte) 0xF1);
    float[] numbers = decoded(TensorType.Q5_K, 256);
    assertThat(numbers[0]).isEqualTo(0.5f * 63 * (16 + 0xA) - 2f * 1);
    assertThat(numbers[32]).isEqualTo(0.5f * 2 * 5 - 2f * 62);
    assertThat(numbers[224]).isEqualTo(0.5f * 7 * 16 - 2f * 24);
    assertThat(numbers[223]).isEqualTo(0.5f * 41 * 1 - 2f * 6);
    assertThat(numbers[255]).isEqualTo(0.5f * 7 * (16 + 15) - 2f * 24);
  }

  @Test
  void q6_k_has_two_high_bits_and_scales_groups_of_16() {
    begin(TensorType.Q6_K, 1);
    block.put(0, (byte) 0x5A).put(32, (byte) 0x21).put(64 + 63, (byte) 0x7F);
    block.put(128, (byte) 0b11_10_01_00).put(128 + 63, (byte) 0b01_00_00_00);
    for (int i = 0; i < 16; i++) {
      block.put(192 + i, (byte) (i % 2 == 0 ? i + 1 : -i - 1));
    }
    block.putShort(208, HALF);
    float[] numbers = decoded(TensorType.Q6_K, 256);
    assertThat(numbers[0]).isEqualTo(0.5f * 1 * (0xA - 32));
    assertThat(numbers[32]).isEqualTo(0.5f * 3 * (1 + 16 - 32));
    assertThat(numbers[64]).isEqualTo(0.5f * 5 * (5 + 32 - 32));
    assertThat(numbers[96]).isEqualTo(0.5f * 7 * (2 + 48 - 32));
    assertThat(numbers[16]).as("the second scale is negative").isEqualTo(0.5f * -2 * -32);
    assertThat(numbers[191]).as("second half, row 1").isEqualTo(0.5f * -12 * (15 - 32));
    assertThat(numbers[255]).as("second half, row 3").isEqualTo(0.5f * -16 * (7 + 16 - 32));
  }

  @Test
  void a_row_is_decoded_from_its_place_to_its_place() {
    long[] shape = {32, 3, 2};
    byte[] bytes = new byte[6 * 34];
    bytes[5 * 34 + 1] = 0x3C;
    bytes[5 * 34 + 2] = 9;
    Tensor tensor = new Tensor("t", TensorType.Q8_0, shape, MemorySegment.ofArray(bytes));
    float[] into = new float[40];
    Arrays.fill(into, 7f);
    tensor.dequantize(5, into, 4);
    assertThat(tensor.rows()).isEqualTo(6);
    assertThat(tensor.columns()).isEqualTo(32);
    assertThat(into).startsWith(7, 7, 7, 7, 9, 0).endsWith(0, 7, 7, 7, 7);
    assertThatThrownBy(() -> tensor.dequantize(6, into, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> tensor.dequantize(0, into, 9))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void every_type_decodes_blocks_alike_wherever_they_stand() {
    long seed = Long.getLong("seed", 1L);
    for (TensorType type : TensorType.values()) {
      byte[] two = new byte[2 * type.blockBytes()];
      new Random(seed).nextBytes(two);
      byte[] second = Arrays.copyOfRange(two, type.blockBytes(), two.length);
      int n = type.blockElements();
      float[] together = new float[2 * n + 1];
      float[] alone = new float[n];
      Blocks.decode(type, MemorySegment.ofArray(two), together, 1);
      Blocks.decode(type, MemorySegment.ofArray(second), alone, 0);
      assertThat(Arrays.copyOfRange(together, 1 + n, 1 + 2 * n))
          .as("%s; reproduce with: mvn test -Dtest=BlocksTest -Dseed=%d", type, seed)
          .isEqualTo(alone);
    }
  }

  /** Scales 63, 2, 5, 0, 33, 0, 41, 7 and minima 1, 62, 4, 0, 18, 0, 6, 24. */
  private static byte[] scales() {
    int[] scale = {63, 2, 5, 0, 33, 0, 41, 7};
    int[] minimum = {1, 62, 4, 0, 18, 0, 6, 24};
    byte[] packed = new byte[12];
    for (int i = 0; i < 4; i++) {
      packed[i] = (byte) (scale[i] | scale[i + 4] >> 4 << 6);
      packed[i + 4] = (byte) (minimum[i] | minimum[i + 4] >> 4 << 6);
      packed[i + 8] = (byte) (scale[i + 4] & 15 | (minimum[i + 4] & 15) << 4);
    }
    return packed;
  }

  private ByteBuffer begin(TensorType type, int blocks) {
    block = ByteBuffer.allocate(type.blockBytes() * blocks).order(ByteOrder.LITTLE_ENDIAN);
    return block;
  }

  private float[] decoded(TensorType type, int numbers) {
    float[] into = new float[numbers];
    Blocks.decode(type, MemorySegment.ofArray(block.array()), into, 0);
    return into;
  }
}
