package firstlight.gpu;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * One row of a quantised tensor in the form that all types share: weight = scale × quant + minimum,
 * exactly as the file says. Quants are signed bytes; there is a scale for every 16 columns and a
 * minimum for every 32.
 */
final class QuantisedRow {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int SMALL = 32;
  private static final int SUPER = 256;

  final byte[] quants;
  final float[] scales;
  final float[] minima;

  QuantisedRow(int columns) {
    quants = new byte[columns];
    scales = new float[columns / 16];
    minima = new float[columns / SMALL];
  }

  /** Whether weights of that type have minima of their own, in the form used here. */
  static boolean hasMinima(TensorType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q4_K, Q5_1, Q5_K -> true;
      case F32, F16, BF16, Q5_0, Q8_0, Q6_K -> false;
    };
  }

  /** Whether the two halves of 32 columns have scales of their own. */
  static boolean hasHalfScales(TensorType type) {
    return type == TensorType.Q6_K;
  }

  static boolean isQuantised(TensorType type) {
    return type.blockElements() > 1;
  }

  /** Reads that row of the tensor, which is quantised and as wide as this. */
  void read(Tensor tensor, long row) {
    TensorType type = tensor.type();
    long rowBytes = (long) (quants.length / type.blockElements()) * type.blockBytes();
    MemorySegment from = tensor.data().asSlice(row * rowBytes, rowBytes);
    for (int column = 0; column < quants.length; column += type.blockElements()) {
      long at = (long) (column / type.blockElements()) * type.blockBytes();
      switch (type) {
        case Q4_0 -> small(from, at + 2, -1, column).scale(column, half(from, at), -8);
        case Q4_1 ->
            small(from, at + 4, -1, column)
                .scale(column, half(from, at), 0)
                .minimum(column, half(from, at + 2));
        case Q5_0 ->
            small(from, at + 6, at + 2, column).centre(column).scale(column, half(from, at), 0);
        case Q5_1 ->
            small(from, at + 8, at + 4, column)
                .scale(column, half(from, at), 0)
                .minimum(column, half(from, at + 2));
        case Q8_0 -> bytes(from, at + 2, column).scale(column, half(from, at), 0);
        case Q4_K -> fours(from, at, column);
        case Q5_K -> fives(from, at, column);
        case Q6_K -> sixes(from, at, column);
        case F32, F16, BF16 -> throw new IllegalArgumentException(type + " is not quantised");
      }
    }
  }

  /** 32 nibbles: low halves are the first 16; and their fifth bits, where there are any. */
  private QuantisedRow small(MemorySegment from, long nibbles, long fifths, int column) {
    int bits = fifths < 0 ? 0 : from.get(INT, fifths);
    for (int i = 0; i < 16; i++) {
      int pair = from.get(JAVA_BYTE, nibbles + i);
      quants[column + i] = (byte) (pair & 15 | (bits >>> i & 1) << 4);
      quants[column + i + 16] = (byte) (pair >> 4 & 15 | (bits >>> i + 16 & 1) << 4);
    }
    return this;
  }

  private QuantisedRow centre(int column) {
    for (int i = column; i < column + SMALL; i++) {
      quants[i] -= 16;
    }
    return this;
  }

  private QuantisedRow bytes(MemorySegment from, long at, int column) {
    MemorySegment.copy(from, JAVA_BYTE, at, quants, column, SMALL);
    return this;
  }

  private QuantisedRow scale(int column, float scale, int offset) {
    scales[column / 16] = scale;
    scales[column / 16 + 1] = scale;
    return minimum(column, scale * offset);
  }

  private QuantisedRow minimum(int column, float minimum) {
    minima[column / SMALL] = minimum;
    return this;
  }

  private void fours(MemorySegment from, long at, int column) {
    for (int i = 0; i < SUPER; i++) {
      quants[column + i] = (byte) nibble(from, at + 16, i);
    }
    groups(from, at, column);
  }

  private void fives(MemorySegment from, long at, int column) {
    for (int i = 0; i < SUPER; i++) {
      int fifth = from.get(JAVA_BYTE, at + 16 + i % 32) >> i / 32 & 1;
      quants[column + i] = (byte) (nibble(from, at + 48, i) | fifth << 4);
    }
    groups(from, at, column);
  }

  /** The scales and minima of eight groups of 32, six bits each. */
  private void groups(MemorySegment from, long at, int column) {
    float d = half(from, at);
    float m = half(from, at + 2);
    for (int group = 0; group < 8; group++) {
      int scale;
      int minimum;
      if (group < 4) {
        scale = from.get(JAVA_BYTE, at + 4 + group) & 63;
        minimum = from.get(JAVA_BYTE, at + 8 + group) & 63;
      } else {
        int low = from.get(JAVA_BYTE, at + 8 + group);
        scale = low & 15 | (from.get(JAVA_BYTE, at + group) >> 6 & 3) << 4;
        minimum = low >> 4 & 15 | (from.get(JAVA_BYTE, at + 4 + group) >> 6 & 3) << 4;
      }
      scale(column + 32 * group, d * scale, 0).minimum(column + 32 * group, -m * minimum);
    }
  }

  private void sixes(MemorySegment from, long at, int column) {
    for (int i = 0; i < SUPER; i++) {
      int half = i / 128;
      int quarter = i % 128 / 32;
      int low = from.get(JAVA_BYTE, at + 64 * half + i % 64) >> quarter / 2 * 4 & 15;
      int high = from.get(JAVA_BYTE, at + 128 + 32 * half + i % 32) >> quarter * 2 & 3;
      quants[column + i] = (byte) ((low | high << 4) - 32);
    }
    float d = half(from, at + 208);
    for (int i = 0; i < SUPER / 16; i++) {
      scales[column / 16 + i] = d * from.get(JAVA_BYTE, at + 192 + i);
    }
  }

  private static int nibble(MemorySegment from, long nibbles, int i) {
    return from.get(JAVA_BYTE, nibbles + i / 64 * 32 + i % 32) >> i % 64 / 32 * 4 & 15;
  }

  private static float half(MemorySegment from, long at) {
    return Float.float16ToFloat(from.get(SHORT, at));
  }
}
