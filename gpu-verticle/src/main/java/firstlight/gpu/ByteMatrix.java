package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Weights of five, six or eight bits, held as signed bytes. Each number of bits has a kernel of its
 * own, since what matters is how many products with an activation fit a short before they are
 * widened.
 *
 * <p>The low halves of the int lanes belong to the first 16 columns of a block and the high halves
 * to the last 16. Eight ints a block: bytes 0 and 1 of int j belong to columns 2 j and 2 j + 1 of
 * its block, bytes 2 and 3 to those 16 further.
 */
abstract sealed class ByteMatrix extends QuantisedMatrix
    permits FiveBitMatrix, SixBitMatrix, EightBitMatrix {
  static final int INTS_A_BLOCK = 8;

  ByteMatrix(Shape shape, Scaling scaling) {
    super(shape, scaling);
  }

  static Shape shape(int rows, int columns, boolean natively) {
    return new Shape(rows, columns, INTS_A_BLOCK, natively);
  }

  @Override
  int place(int column) {
    return column % 16 / 2;
  }

  @Override
  int shift(int column) {
    return column / 16 * 16 + column % 2 * 8;
  }

  @Override
  int field(int quant) {
    return quant & 0xff;
  }

  @Override
  int quant(int stored) {
    return (byte) stored;
  }

  @Override
  void unpack(int pair, int block, int[] into, int at) {
    int from = begin(pair) + block * INTS_A_BLOCK * PAIR;
    for (int j = 0; j < INTS_A_BLOCK; j++) {
      // The order of the activations: see there.
      int to = at + (j / 2 * 4 + j % 2) * PAIR;
      for (int i = 0; i < PAIR; i += COUNT) {
        ShortVector v = IntVector.fromArray(INTS, quants, from + i).reinterpretAsShorts();
        v.lanewise(VectorOperators.LSHL, 8)
            .lanewise(VectorOperators.ASHR, 8)
            .reinterpretAsInts()
            .intoArray(into, to + i);
        v.lanewise(VectorOperators.ASHR, 8).reinterpretAsInts().intoArray(into, to + 2 * PAIR + i);
      }
      from += PAIR;
    }
  }

  @Override
  void unpack(int pair, int block, float[] into) {
    int from = begin(pair) + block * INTS_A_BLOCK * PAIR;
    int to = 0;
    for (int j = 0; j < INTS_A_BLOCK; j++) {
      for (int i = 0; i < PAIR; i += COUNT) {
        IntVector v = IntVector.fromArray(INTS, quants, from + i);
        signed(v.lanewise(VectorOperators.LSHL, 24)).intoArray(into, to + i);
        signed(v.lanewise(VectorOperators.LSHL, 16)).intoArray(into, to + PAIR + i);
        signed(v.lanewise(VectorOperators.LSHL, 8)).intoArray(into, to + 16 * PAIR + i);
        signed(v).intoArray(into, to + 17 * PAIR + i);
      }
      from += PAIR;
      to += 2 * PAIR;
    }
  }

  /** The top byte of each lane. */
  private static FloatVector signed(IntVector lanes) {
    return (FloatVector) lanes.lanewise(VectorOperators.ASHR, 24).convert(VectorOperators.I2F, 0);
  }
}
