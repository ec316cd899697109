package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Quants from -16 to 15: sixteen products with an activation (up to 127) are at most 32,512 and fit
 * a short.
 */
final class FiveBitMatrix extends ByteMatrix {
  FiveBitMatrix(Shape shape) {
    super(shape, new Scaling(new Plane(shape.units(), true), null, null, 0));
  }

  @Override
  int nativeKind() {
    return 8;
  }

  @Override
  boolean narrow() {
    return true;
  }

  @Override
  boolean halves() {
    return false;
  }

  @Override
  void one(Activations in, int token, float[] out, int pair, Tile tile) {
    final int[] x = in.byteDifferences;
    final int[] corrections = in.corrections;
    final float[] step = in.scales;
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
      // Their halves of a lift add up to nothing in a short.
      ShortVector s00 = IntVector.broadcast(INTS, corrections[k + 2]).reinterpretAsShorts();
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 6]).reinterpretAsShorts());
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 10]).reinterpretAsShorts());
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 14]).reinterpretAsShorts());
      ShortVector s01 = s00;
      for (int j = 0; j < INTS_A_BLOCK; j += 2) {
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
        at += 2 * PAIR;
        k += 4;
      }
      FloatVector d0 = FloatVector.fromArray(FLOATS, tile.scales, unit);
      FloatVector d1 = FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT);
      IntVector w;
      FloatVector p;
      w = s00.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f00 = p.mul(step[b]).fma(d0, f00);
      w = s01.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f01 = p.mul(step[b]).fma(d1, f01);
      b++;
    }
    f00.intoArray(out, output(token, pair));
    f01.intoArray(out, output(token, pair) + COUNT);
  }

  @Override
  void two(Activations in, int token, float[] out, int pair, Tile tile) {
    final int[] x = in.byteDifferences;
    final int[] corrections = in.corrections;
    final float[] step = in.scales;
    final int next = in.blocks * Activations.PAIRS;
    FloatVector f00 = FloatVector.zero(FLOATS);
    FloatVector f01 = FloatVector.zero(FLOATS);
    FloatVector f10 = FloatVector.zero(FLOATS);
    FloatVector f11 = FloatVector.zero(FLOATS);
    int at = begin(pair);
    int b = token * in.blocks;
    int k = b * Activations.PAIRS;
    for (int unit = 0; unit < blocks * PAIR; unit += PAIR) {
      ShortVector v0;
      ShortVector v1;
      ShortVector c;
      ShortVector d;
      // Their halves of a lift add up to nothing in a short.
      ShortVector s00 = IntVector.broadcast(INTS, corrections[k + 2]).reinterpretAsShorts();
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 6]).reinterpretAsShorts());
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 10]).reinterpretAsShorts());
      s00 = s00.add(IntVector.broadcast(INTS, corrections[k + 14]).reinterpretAsShorts());
      ShortVector s01 = s00;
      ShortVector s10 = IntVector.broadcast(INTS, corrections[next + k + 2]).reinterpretAsShorts();
      s10 = s10.add(IntVector.broadcast(INTS, corrections[next + k + 6]).reinterpretAsShorts());
      s10 = s10.add(IntVector.broadcast(INTS, corrections[next + k + 10]).reinterpretAsShorts());
      s10 = s10.add(IntVector.broadcast(INTS, corrections[next + k + 14]).reinterpretAsShorts());
      ShortVector s11 = s10;
      for (int j = 0; j < INTS_A_BLOCK; j += 2) {
        v0 = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + COUNT).reinterpretAsShorts();
        ShortVector e00 = v0;
        ShortVector o00 = v0.lanewise(VectorOperators.LSHR, 8);
        ShortVector e10 = v1;
        ShortVector o10 = v1.lanewise(VectorOperators.LSHR, 8);
        c = IntVector.broadcast(INTS, x[k]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 2]).reinterpretAsShorts();
        s00 = s00.add(e00.mul(c)).add(o00.mul(d));
        s01 = s01.add(e10.mul(c)).add(o10.mul(d));
        c = IntVector.broadcast(INTS, x[next + k]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[next + k + 2]).reinterpretAsShorts();
        s10 = s10.add(e00.mul(c)).add(o00.mul(d));
        s11 = s11.add(e10.mul(c)).add(o10.mul(d));
        v0 = IntVector.fromArray(INTS, quants, at + PAIR).reinterpretAsShorts();
        v1 = IntVector.fromArray(INTS, quants, at + PAIR + COUNT).reinterpretAsShorts();
        ShortVector e01 = v0;
        ShortVector o01 = v0.lanewise(VectorOperators.LSHR, 8);
        ShortVector e11 = v1;
        ShortVector o11 = v1.lanewise(VectorOperators.LSHR, 8);
        c = IntVector.broadcast(INTS, x[k + 1]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[k + 3]).reinterpretAsShorts();
        s00 = s00.add(e01.mul(c)).add(o01.mul(d));
        s01 = s01.add(e11.mul(c)).add(o11.mul(d));
        c = IntVector.broadcast(INTS, x[next + k + 1]).reinterpretAsShorts();
        d = IntVector.broadcast(INTS, x[next + k + 3]).reinterpretAsShorts();
        s10 = s10.add(e01.mul(c)).add(o01.mul(d));
        s11 = s11.add(e11.mul(c)).add(o11.mul(d));
        at += 2 * PAIR;
        k += 4;
      }
      FloatVector d0 = FloatVector.fromArray(FLOATS, tile.scales, unit);
      FloatVector d1 = FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT);
      IntVector w;
      FloatVector p;
      w = s00.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f00 = p.mul(step[b]).fma(d0, f00);
      w = s01.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f01 = p.mul(step[b]).fma(d1, f01);
      w = s10.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f10 = p.mul(step[b + in.blocks]).fma(d0, f10);
      w = s11.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f11 = p.mul(step[b + in.blocks]).fma(d1, f11);
      b++;
    }
    f00.intoArray(out, output(token, pair));
    f01.intoArray(out, output(token, pair) + COUNT);
    f10.intoArray(out, output(token + 1, pair));
    f11.intoArray(out, output(token + 1, pair) + COUNT);
  }
}
