package firstlight.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Decodes blocks of stored numbers to float32.
 *
 * <p>{@code d} is a block's scale and {@code m} its minimum, both half floats. In the types of 32 a
 * nibble's low half is element j and its high half element j + 16; in the types of 256 the same
 * holds for groups of 64, whose halves lie 32 apart.
 */
final class Blocks {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int SMALL = 32;
  private static final int SUPER = 256;

  private Blocks() {}

  /** Decodes whole blocks of {@code from} to {@code into}, beginning at {@code to}. */
  static void decode(TensorType type, MemorySegment from, float[] into, int to) {
    int blocks = Math.toIntExact(from.byteSize() / type.blockBytes());
    Objects.checkFromIndexSize(to, blocks * type.blockElements(), into.length);
    for (int i = 0; i < blocks; i++) {
      long at = (long) i * type.blockBytes();
      int out = to + i * type.blockElements();
      switch (type) {
        case F32 -> into[out] = from.get(FLOAT, at);
        case F16 -> into[out] = half(from, at);
        case BF16 -> into[out] = Float.intBitsToFloat(from.get(SHORT, at) << 16);
        case Q4_0 -> centred(from, at, false, into, out);
        case Q4_1 -> shifted(from, at, false, into, out);
        case Q5_0 -> centred(from, at, true, into, out);
        case Q5_1 -> shifted(from, at, true, into, out);
        case Q8_0 -> bytes(from, at, into, out);
        case Q4_K -> fours256(from, at, into, out);
        case Q5_K -> fives256(from, at, into, out);
        case Q6_K -> sixes256(from, at, into, out);
      }
    }
  }

  /** Q4_0, Q5_0: d, [fifth bits], nibbles; x = (q - half of the range) d. */
  private static void centred(MemorySegment from, long at, boolean five, float[] into, int out) {
    float d = half(from, at);
    int fifths = five ? from.get(INT, at + 2) : 0;
    long nibbles = at + (five ? 6 : 2);
    int centre = five ? 16 : 8;
    for (int j = 0; j < SMALL / 2; j++) {
      int pair = from.get(JAVA_BYTE, nibbles + j);
      into[out + j] = ((pair & 0xF | bit(fifths, j) << 4) - centre) * d;
      into[out + j + 16] = ((pair >> 4 & 0xF | bit(fifths, j + 16) << 4) - centre) * d;
    }
  }

  /** Q4_1, Q5_1: d, m, [fifth bits], nibbles; x = q d + m. */
  private static void shifted(MemorySegment from, long at, boolean five, float[] into, int out) {
    float d = half(from, at);
    float m = half(from, at + 2);
    int fifths = five ? from.get(INT, at + 4) : 0;
    long nibbles = at + (five ? 8 : 4);
    for (int j = 0; j < SMALL / 2; j++) {
      int pair = from.get(JAVA_BYTE, nibbles + j);
      into[out + j] = (pair & 0xF | bit(fifths, j) << 4) * d + m;
      into[out + j + 16] = (pair >> 4 & 0xF | bit(fifths, j + 16) << 4) * d + m;
    }
  }

  /** Q8_0: d, 32 signed bytes; x = q d. */
  private static void bytes(MemorySegment from, long at, float[] into, int out) {
    float d = half(from, at);
    for (int j = 0; j < SMALL; j++) {
      into[out + j] = from.get(JAVA_BYTE, at + 2 + j) * d;
    }
  }

  /** Q4_K: d, m, 12 bytes of six-bit scales and minima for 8 groups of 32, 128 bytes of nibbles. */
  private static void fours256(MemorySegment from, long at, float[] into, int out) {
    for (int j = 0; j < SUPER; j++) {
      int q = nibble(from, at + 16, j);
      into[out + j] = scaled(from, at, j / 32, q);
    }
  }

  /**
   * Q5_K: as Q4_K, with 32 bytes of fifth bits before the nibbles: bit g of byte l is group g's.
   */
  private static void fives256(MemorySegment from, long at, float[] into, int out) {
    for (int j = 0; j < SUPER; j++) {
      int q = nibble(from, at + 48, j) | bit(from.get(JAVA_BYTE, at + 16 + j % 32), j / 32) << 4;
      into[out + j] = scaled(from, at, j / 32, q);
    }
  }

  /**
   * Q6_K: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales for groups of 16,
   * d; x = d scale (q - 32). Each half of 128 elements is four rows of 32: rows 0 and 1 are the low
   * nibbles of 64 bytes, rows 2 and 3 their high ones; row r has bits 2r and 2r + 1 of 32 bytes.
   */
  private static void sixes256(MemorySegment from, long at, float[] into, int out) {
    float d = half(from, at + 208);
    for (int j = 0; j < SUPER; j++) {
      int half = j / 128;
      int row = j % 128 / 32;
      int low = from.get(JAVA_BYTE, at + 64 * half + j % 64) >> (row / 2 * 4) & 0xF;
      int high = from.get(JAVA_BYTE, at + 128 + 32 * half + j % 32) >> (row * 2) & 3;
      float scale = d * from.get(JAVA_BYTE, at + 192 + j / 16);
      into[out + j] = scale * ((low | high << 4) - 32);
    }
  }

  /** x = d scale q - m minimum, of a group of 32 in Q4_K and Q5_K. */
  private static float scaled(MemorySegment from, long at, int group, int q) {
    int scale;
    int minimum;
    long scales = at + 4;
    if (group < 4) {
      scale = from.get(JAVA_BYTE, scales + group) & 63;
      minimum = from.get(JAVA_BYTE, scales + group + 4) & 63;
    } else {
      // The last four have their low bits in the last four bytes, their high bits in the first
      // eight.
      int low = from.get(JAVA_BYTE, scales + group + 4);
      scale = low & 0xF | (from.get(JAVA_BYTE, scales + group - 4) >> 6 & 3) << 4;
      minimum = low >> 4 & 0xF | (from.get(JAVA_BYTE, scales + group) >> 6 & 3) << 4;
    }
    return half(from, at) * scale * q - half(from, at + 2) * minimum;
  }

  /** Element j of nibbles in groups of 64. */
  private static int nibble(MemorySegment from, long nibbles, int j) {
    return from.get(JAVA_BYTE, nibbles + j / 64 * 32 + j % 32) >> (j % 64 / 32 * 4) & 0xF;
  }

  private static int bit(int bits, int index) {
    return bits >>> index & 1;
  }

  private static float half(MemorySegment from, long at) {
    return Float.float16ToFloat(from.get(SHORT, at));
  }
}
