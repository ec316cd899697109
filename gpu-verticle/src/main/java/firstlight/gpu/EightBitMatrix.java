package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/** Quants of eight bits: two products with an activation are as much as a short holds. */
final class EightBitMatrix extends ByteMatrix {
  EightBitMatrix(Shape shape) {
    super(shape, new Scaling(new Plane(shape.units(), true), null, null, 0));
  }

  @Override
  int nativeKind() {
    return 8;
  }

  @Override
  boolean narrow() {
    return false;
  }

  @Override
  boolean halves() {
    return false;
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
    final Plane scales = scaling.scales();
    int touched = 0;
    int ahead = (pair + 1) * blocks * PAIR;
    FloatVector f0 = FloatVector.zero(FLOATS);
    FloatVector f1 = FloatVector.zero(FLOATS);
    int at = begin(pair);
    int b = token * in.blocks;
    int k = b * Activations.PAIRS;
    for (int unit = 0; unit < blocks * PAIR; unit += PAIR) {
      touched += scales.touch(ahead + unit);
      IntVector both0 = IntVector.zero(INTS);
      IntVector both1 = IntVector.zero(INTS);
      IntVector high0 = IntVector.zero(INTS);
      IntVector high1 = IntVector.zero(INTS);
      for (int j = 0; j < INTS_A_BLOCK; j++) {
        ShortVector v0 = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        ShortVector v1 = IntVector.fromArray(INTS, quants, at + COUNT).reinterpretAsShorts();
        int even = k + j + (j & ~1);
        ShortVector c = IntVector.broadcast(INTS, x[even]).reinterpretAsShorts();
        ShortVector d = IntVector.broadcast(INTS, x[even + 2]).reinterpretAsShorts();
        ShortVector lift = IntVector.broadcast(INTS, corrections[even]).reinterpretAsShorts();
        IntVector w0 =
            v0.mul(c)
                .add(v0.lanewise(VectorOperators.LSHR, 8).mul(d))
                .add(lift)
                .reinterpretAsInts();
        IntVector w1 =
            v1.mul(c)
                .add(v1.lanewise(VectorOperators.LSHR, 8).mul(d))
                .add(lift)
                .reinterpretAsInts();
        high0 = high0.add(w0.lanewise(VectorOperators.ASHR, 16));
        both0 = both0.add(w0);
        high1 = high1.add(w1.lanewise(VectorOperators.ASHR, 16));
        both1 = both1.add(w1);
        at += PAIR;
      }
      FloatVector p =
          (FloatVector)
              both0
                  .sub(high0.lanewise(VectorOperators.LSHL, 16))
                  .add(high0)
                  .sub(INTS_A_BLOCK * Activations.LIFT)
                  .convert(VectorOperators.I2F, 0);
      f0 = p.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.scales, unit), f0);
      p =
          (FloatVector)
              both1
                  .sub(high1.lanewise(VectorOperators.LSHL, 16))
                  .add(high1)
                  .sub(INTS_A_BLOCK * Activations.LIFT)
                  .convert(VectorOperators.I2F, 0);
      f1 = p.mul(step[b]).fma(FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT), f1);
      k += Activations.PAIRS;
      b++;
    }
    f0.intoArray(out, output(token, pair));
    f1.intoArray(out, output(token, pair) + COUNT);
    tile.touched = touched;
  }
}
