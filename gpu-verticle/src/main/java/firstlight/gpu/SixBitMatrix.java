package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;

import firstlight.model.TensorType;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Quants from -32 to 31, and those from 0 to 31: eight products with an activation (up to 127) are
 * at most 32,512 and fit a short. Each half of a block is scaled by itself, whether or not the file
 * has two scales for it.
 */
final class SixBitMatrix extends ByteMatrix {
  SixBitMatrix(Shape shape, TensorType type) {
    // Only the K types have scales that are products.
    boolean half = type == TensorType.Q5_1;
    super(
        shape,
        new Scaling(
            new Plane(shape.units(), half),
            QuantisedRow.hasHalfScales(type) ? new Plane(shape.units(), half) : null,
            QuantisedRow.hasMinima(type) ? new Plane(shape.units(), half) : null,
            0));
  }

  @Override
  int nativeKind() {
    return 6;
  }

  @Override
  boolean narrow() {
    return false;
  }

  @Override
  boolean halves() {
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The low halves of the sums are lifted, so that they are never below 0, and the ints that
   * they are part of can be added before the halves are told apart.
   */
  @Override
  void one(Activations in, int token, float[] out, int pair, Tile tile) {
    final int[] x = in.byteDifferences;
    final int[] corrections = in.corrections;
    final float[] step = in.scales;
    final float[] total = in.sums;
    FloatVector f00 = FloatVector.zero(FLOATS);
    FloatVector f01 = FloatVector.zero(FLOATS);
    int at = begin(pair);
    int b = token * in.blocks;
    int k = b * Activations.PAIRS;
    for (int unit = 0; unit < blocks * PAIR; unit += PAIR) {
      ShortVector v0;
      ShortVector v1;
      ShortVector c;
      ShortVector d;
      IntVector both0 = IntVector.zero(INTS);
      IntVector high0 = IntVector.zero(INTS);
      IntVector both1 = IntVector.zero(INTS);
      IntVector high1 = IntVector.zero(INTS);
      for (int j = 0; j < INTS_A_BLOCK; j += 4) {
        ShortVector s00 = IntVector.broadcast(INTS, corrections[k + 2]).reinterpretAsShorts();
        s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 6]).reinterpretAsShorts());
        ShortVector s01 = s00;
        v0 = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + COUNT).reinterpretAsShorts();
        c = IntVector.broadcast(INTS, x[k]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 2]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c)).add(v0.lanewise(VectorOperators.LSHR, 8).mul(d));
        s01 = s01.add(v1.mul(c)).add(v1.lanewise(VectorOperators.LSHR, 8).mul(d));
        v0 = IntVector.fromArray(INTS, quants, at + PAIR).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + PAIR + COUNT).reinterpretAsShorts();
        c = IntVector.broadcast(INTS, x[k + 1]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 3]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c)).add(v0.lanewise(VectorOperators.LSHR, 8).mul(d));
        s01 = s01.add(v1.mul(c)).add(v1.lanewise(VectorOperators.LSHR, 8).mul(d));
        v0 = IntVector.fromArray(INTS, quants, at + 2 * PAIR).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + 2 * PAIR + COUNT).reinterpretAsShorts();
        c = IntVector.broadcast(INTS, x[k + 4]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 6]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c)).add(v0.lanewise(VectorOperators.LSHR, 8).mul(d));
        s01 = s01.add(v1.mul(c)).add(v1.lanewise(VectorOperators.LSHR, 8).mul(d));
        v0 = IntVector.fromArray(INTS, quants, at + 3 * PAIR).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + 3 * PAIR + COUNT).reinterpretAsShorts();
        c = IntVector.broadcast(INTS, x[k + 5]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 7]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c)).add(v0.lanewise(VectorOperators.LSHR, 8).mul(d));
        s01 = s01.add(v1.mul(c)).add(v1.lanewise(VectorOperators.LSHR, 8).mul(d));
        at += 4 * PAIR;
        k += 8;
        IntVector w0 = s00.reinterpretAsInts();
        high0 = high0.add(w0.lanewise(VectorOperators.ASHR, 16));
        both0 = both0.add(w0);
        IntVector w1 = s01.reinterpretAsInts();
        high1 = high1.add(w1.lanewise(VectorOperators.ASHR, 16));
        both1 = both1.add(w1);
      }
      FloatVector p0 =
          (FloatVector)
              both0
                  .sub(high0.lanewise(VectorOperators.LSHL, 16))
                  .sub(2 * Activations.LIFT)
                  .convert(VectorOperators.I2F, 0);
      FloatVector q0 = (FloatVector) high0.convert(VectorOperators.I2F, 0);
      f00 = p0.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.scales, unit), f00);
      f00 = q0.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.highScales, unit), f00);
      f00 =
          FloatVector.fromArray(FLOATS, tile.minima, unit)
              .fma(FloatVector.broadcast(FLOATS, total[b]), f00);
      FloatVector p1 =
          (FloatVector)
              both1
                  .sub(high1.lanewise(VectorOperators.LSHL, 16))
                  .sub(2 * Activations.LIFT)
                  .convert(VectorOperators.I2F, 0);
      FloatVector q1 = (FloatVector) high1.convert(VectorOperators.I2F, 0);
      f01 = p1.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT), f01);
      f01 = q1.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.highScales, unit + COUNT), f01);
      f01 =
          FloatVector.fromArray(FLOATS, tile.minima, unit + COUNT)
              .fma(FloatVector.broadcast(FLOATS, total[b]), f01);
      b++;
    }
    f00.intoArray(out, output(token, pair));
    f01.intoArray(out, output(token, pair) + COUNT);
  }
}
