package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;

import java.util.Set;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Weights of five, six or eight bits, held as bytes, {@link #OFFSET} more than they are. Each
 * number of bits has a kernel of its own, since what matters is how many products with an
 * activation fit a short before they are widened.
 *
 * <p>Bytes are not taken apart more than they must be. A short holds two, {@code u + 256 v}, and a
 * shift gives {@code v}. As shorts wrap around, {@code u a + v b = (u + 256 v) a + v (b - 256 a)}:
 * the factors are {@link Activations#byteDifferences}. {@link Activations#corrections} take away
 * the offset; what matters is only that a sum without it fits a short in the end.
 *
 * <p>The low halves of the int lanes belong to the first 16 columns of a block and the high halves
 * to the last 16. Eight ints a block: bytes 0 and 1 of int j belong to columns 2 j and 2 j + 1 of
 * its block, bytes 2 and 3 to those 16 further.
 */
abstract sealed class ByteMatrix extends QuantisedMatrix
    permits FiveBitMatrix, SixBitMatrix, EightBitMatrix {
  static final int INTS_A_BLOCK = 8;

  /** What is added to a quant, so that the bytes that are stored are 0 or more. */
  static final int OFFSET = 128;

  ByteMatrix(Shape shape, Scaling scaling) {
    super(shape, scaling);
  }

  static Shape shape(int rows, int columns, boolean natively) {
    return new Shape(rows, columns, INTS_A_BLOCK, natively);
  }

  @Override
  Set<Activations.Form> javaForms() {
    return narrow()
        ? Set.of(Activations.Form.SHORTS, Activations.Form.WIDE)
        : Set.of(Activations.Form.WIDE);
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
    return quant + OFFSET & 0xff;
  }

  @Override
  int quant(int stored) {
    return (stored & 0xff) - OFFSET;
  }

  @Override
  void unpack(int pair, int block, int[] into, int at) {
    int from = begin(pair) + block * INTS_A_BLOCK * PAIR;
    for (int j = 0; j < INTS_A_BLOCK; j++) {
      // The order of the activations: see there.
      int to = at + (j / 2 * 4 + j % 2) * PAIR;
      for (int i = 0; i < PAIR; i += COUNT) {
        ShortVector v = IntVector.fromArray(INTS, quants, from + i).reinterpretAsShorts();
        v.and((short) 0xff).sub((short) OFFSET).reinterpretAsInts().intoArray(into, to + i);
        v.lanewise(VectorOperators.LSHR, 8)
            .sub((short) OFFSET)
            .reinterpretAsInts()
            .intoArray(into, to + 2 * PAIR + i);
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
        ((FloatVector) v.and(0xff).sub(OFFSET).convert(VectorOperators.I2F, 0))
            .intoArray(into, to + i);
        ((FloatVector)
                v.lanewise(VectorOperators.LSHR, 8)
                    .and(0xff)
                    .sub(OFFSET)
                    .convert(VectorOperators.I2F, 0))
            .intoArray(into, to + PAIR + i);
        ((FloatVector)
                v.lanewise(VectorOperators.LSHR, 16)
                    .and(0xff)
                    .sub(OFFSET)
                    .convert(VectorOperators.I2F, 0))
            .intoArray(into, to + 16 * PAIR + i);
        ((FloatVector)
                v.lanewise(VectorOperators.LSHR, 24).sub(OFFSET).convert(VectorOperators.I2F, 0))
            .intoArray(into, to + 17 * PAIR + i);
      }
      from += PAIR;
      to += 2 * PAIR;
    }
  }

  @Override
  void two(Activations in, int token, float[] out, int pair, Tile tile) {
    one(in, token, out, pair, tile);
    one(in, token + 1, out, pair, tile);
  }
}
