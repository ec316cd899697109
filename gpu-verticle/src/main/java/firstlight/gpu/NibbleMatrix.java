package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;
import static firstlight.gpu.Lanes.SHORTS;

import firstlight.model.TensorType;
import java.util.Set;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Weights of four bits. A nibble (up to 15) times an activation (up to 127) fits a short, and so
 * does the sum of 16 such products (up to 30,480). So half a block is summed in each half of an int
 * lane before anything is widened.
 *
 * <p>Nibbles are not even masked: four of them lie in a short, {@code n0 + 16 n1 + 256 n2 + 4096
 * n3}, and shifts to the right give {@code u1 = n1 + 16 n2 + 256 n3}, {@code u2} and {@code u3}. As
 * shorts wrap around, {@code n0 a0 + n1 a1 + n2 a2 + n3 a3 = u0 a0 + u1 (a1 - 16 a0) + u2 (a2 - 16
 * a1) + u3 (a3 - 16 a2)}: the factors are {@link Activations#differences}, and what matters is only
 * that the sum fits a short in the end.
 *
 * <p>Four ints a block: of the 16 columns whose quants are in the low halves, int j has column 4 j
 * at bit 0, 4 j + 1 at bit 8, 4 j + 2 at bit 4 and 4 j + 3 at bit 12; the high halves have those 16
 * further.
 */
final class NibbleMatrix extends QuantisedMatrix {
  private static final int INTS_A_BLOCK = 4;
  private static final int MASK = 0x000f000f;

  NibbleMatrix(int rows, int columns, TensorType type, boolean natively) {
    this(new Shape(rows, columns, INTS_A_BLOCK, natively), type);
  }

  private NibbleMatrix(Shape shape, TensorType type) {
    // Only the K type has scales that are products.
    boolean half = type != TensorType.Q4_K;
    super(
        shape,
        new Scaling(
            new Plane(shape.units(), half),
            null,
            type == TensorType.Q4_0 ? null : new Plane(shape.units(), half),
            type == TensorType.Q4_0 ? -8 : 0));
  }

  @Override
  int place(int column) {
    return column % 16 / 4;
  }

  @Override
  int shift(int column) {
    return column / 16 * 16 + column % 2 * 8 + column / 2 % 2 * 4;
  }

  @Override
  int field(int quant) {
    return quant;
  }

  @Override
  int quant(int stored) {
    return stored & 15;
  }

  @Override
  Set<Activations.Form> javaForms() {
    return Set.of(Activations.Form.SHORTS);
  }

  @Override
  int nativeKind() {
    return 4;
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
  void unpack(int pair, int block, int[] into, int at) {
    int from = begin(pair) + block * INTS_A_BLOCK * PAIR;
    int to = at;
    for (int i = 0; i < INTS_A_BLOCK * PAIR; i += COUNT) {
      IntVector v = IntVector.fromArray(INTS, quants, from + i);
      v.and(MASK).intoArray(into, to);
      v.lanewise(VectorOperators.LSHR, 4).and(MASK).intoArray(into, to + PAIR);
      v.lanewise(VectorOperators.LSHR, 8).and(MASK).intoArray(into, to + 2 * PAIR);
      v.lanewise(VectorOperators.LSHR, 12).and(MASK).intoArray(into, to + 3 * PAIR);
      to += i % PAIR == 0 ? COUNT : 4 * PAIR - COUNT;
    }
  }

  @Override
  void unpack(int pair, int block, float[] into) {
    throw new UnsupportedOperationException("nibbles are multiplied as shorts");
  }

  @Override
  void one(Activations in, int token, float[] out, int pair, Tile tile) {
    final int[] x = in.differences;
    final float[] step = in.scales;
    final float[] total = in.sums;
    final Plane scales = scaling.scales();
    final Plane minima = scaling.minima() == null ? scales : scaling.minima();
    int touched = 0;
    int ahead = (pair + 1) * blocks * PAIR;
    FloatVector f00 = FloatVector.zero(FLOATS);
    FloatVector f01 = FloatVector.zero(FLOATS);
    int at = begin(pair);
    int b = token * in.blocks;
    int k = b * Activations.PAIRS;
    for (int unit = 0; unit < blocks * PAIR; unit += PAIR) {
      touched += scales.touch(ahead + unit);
      touched += minima.touch(ahead + unit);
      ShortVector s00 = ShortVector.zero(SHORTS);
      ShortVector s01 = ShortVector.zero(SHORTS);
      for (int j = 0; j < INTS_A_BLOCK; j++) {
        ShortVector v0 = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        ShortVector v1 = IntVector.fromArray(INTS, quants, at + COUNT).reinterpretAsShorts();
        ShortVector c00 = IntVector.broadcast(INTS, x[k]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c00));
        s01 = s01.add(v1.mul(c00));
        ShortVector v01 = v0.lanewise(VectorOperators.LSHR, 4);
        ShortVector v11 = v1.lanewise(VectorOperators.LSHR, 4);
        ShortVector c01 = IntVector.broadcast(INTS, x[k + 1]).reinterpretAsShorts();
        s00 = s00.add(v01.mul(c01));
        s01 = s01.add(v11.mul(c01));
        ShortVector v02 = v0.lanewise(VectorOperators.LSHR, 8);
        ShortVector v12 = v1.lanewise(VectorOperators.LSHR, 8);
        ShortVector c02 = IntVector.broadcast(INTS, x[k + 2]).reinterpretAsShorts();
        s00 = s00.add(v02.mul(c02));
        s01 = s01.add(v12.mul(c02));
        ShortVector v03 = v0.lanewise(VectorOperators.LSHR, 12);
        ShortVector v13 = v1.lanewise(VectorOperators.LSHR, 12);
        ShortVector c03 = IntVector.broadcast(INTS, x[k + 3]).reinterpretAsShorts();
        s00 = s00.add(v03.mul(c03));
        s01 = s01.add(v13.mul(c03));
        at += PAIR;
        k += 4;
      }
      FloatVector d0 = FloatVector.fromArray(FLOATS, tile.scales, unit);
      FloatVector d1 = FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT);
      FloatVector m0 = FloatVector.fromArray(FLOATS, tile.minima, unit);
      FloatVector m1 = FloatVector.fromArray(FLOATS, tile.minima, unit + COUNT);
      IntVector w;
      FloatVector p;
      w = s00.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f00 = p.mul(step[b]).fma(d0, f00);
      f00 = m0.fma(FloatVector.broadcast(FLOATS, total[b]), f00);
      w = s01.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f01 = p.mul(step[b]).fma(d1, f01);
      f01 = m1.fma(FloatVector.broadcast(FLOATS, total[b]), f01);
      b++;
    }
    f00.intoArray(out, output(token, pair));
    f01.intoArray(out, output(token, pair) + COUNT);
    tile.touched = touched;
  }

  @Override
  void two(Activations in, int token, float[] out, int pair, Tile tile) {
    final int[] x = in.differences;
    final float[] step = in.scales;
    final float[] total = in.sums;
    FloatVector f00 = FloatVector.zero(FLOATS);
    FloatVector f01 = FloatVector.zero(FLOATS);
    FloatVector f10 = FloatVector.zero(FLOATS);
    FloatVector f11 = FloatVector.zero(FLOATS);
    int at = begin(pair);
    int b = token * in.blocks;
    int k = b * Activations.PAIRS;
    final int next = in.blocks * Activations.PAIRS;
    for (int unit = 0; unit < blocks * PAIR; unit += PAIR) {
      ShortVector s00 = ShortVector.zero(SHORTS);
      ShortVector s01 = ShortVector.zero(SHORTS);
      ShortVector s10 = ShortVector.zero(SHORTS);
      ShortVector s11 = ShortVector.zero(SHORTS);
      for (int j = 0; j < INTS_A_BLOCK; j++) {
        ShortVector v0 = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        ShortVector v1 = IntVector.fromArray(INTS, quants, at + COUNT).reinterpretAsShorts();
        ShortVector c00 = IntVector.broadcast(INTS, x[k]).reinterpretAsShorts();
        s00 = s00.add(v0.mul(c00));
        s01 = s01.add(v1.mul(c00));
        ShortVector c10 = IntVector.broadcast(INTS, x[next + k]).reinterpretAsShorts();
        s10 = s10.add(v0.mul(c10));
        s11 = s11.add(v1.mul(c10));
        ShortVector v01 = v0.lanewise(VectorOperators.LSHR, 4);
        ShortVector v11 = v1.lanewise(VectorOperators.LSHR, 4);
        ShortVector c01 = IntVector.broadcast(INTS, x[k + 1]).reinterpretAsShorts();
        s00 = s00.add(v01.mul(c01));
        s01 = s01.add(v11.mul(c01));
        ShortVector c11 = IntVector.broadcast(INTS, x[next + k + 1]).reinterpretAsShorts();
        s10 = s10.add(v01.mul(c11));
        s11 = s11.add(v11.mul(c11));
        ShortVector v02 = v0.lanewise(VectorOperators.LSHR, 8);
        ShortVector v12 = v1.lanewise(VectorOperators.LSHR, 8);
        ShortVector c02 = IntVector.broadcast(INTS, x[k + 2]).reinterpretAsShorts();
        s00 = s00.add(v02.mul(c02));
        s01 = s01.add(v12.mul(c02));
        ShortVector c12 = IntVector.broadcast(INTS, x[next + k + 2]).reinterpretAsShorts();
        s10 = s10.add(v02.mul(c12));
        s11 = s11.add(v12.mul(c12));
        ShortVector v03 = v0.lanewise(VectorOperators.LSHR, 12);
        ShortVector v13 = v1.lanewise(VectorOperators.LSHR, 12);
        ShortVector c03 = IntVector.broadcast(INTS, x[k + 3]).reinterpretAsShorts();
        s00 = s00.add(v03.mul(c03));
        s01 = s01.add(v13.mul(c03));
        ShortVector c13 = IntVector.broadcast(INTS, x[next + k + 3]).reinterpretAsShorts();
        s10 = s10.add(v03.mul(c13));
        s11 = s11.add(v13.mul(c13));
        at += PAIR;
        k += 4;
      }
      FloatVector d0 = FloatVector.fromArray(FLOATS, tile.scales, unit);
      FloatVector d1 = FloatVector.fromArray(FLOATS, tile.scales, unit + COUNT);
      FloatVector m0 = FloatVector.fromArray(FLOATS, tile.minima, unit);
      FloatVector m1 = FloatVector.fromArray(FLOATS, tile.minima, unit + COUNT);
      IntVector w;
      FloatVector p;
      w = s00.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f00 = p.mul(step[b]).fma(d0, f00);
      f00 = m0.fma(FloatVector.broadcast(FLOATS, total[b]), f00);
      w = s01.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f01 = p.mul(step[b]).fma(d1, f01);
      f01 = m1.fma(FloatVector.broadcast(FLOATS, total[b]), f01);
      w = s10.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f10 = p.mul(step[b + in.blocks]).fma(d0, f10);
      f10 = m0.fma(FloatVector.broadcast(FLOATS, total[b + in.blocks]), f10);
      w = s11.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f11 = p.mul(step[b + in.blocks]).fma(d1, f11);
      f11 = m1.fma(FloatVector.broadcast(FLOATS, total[b + in.blocks]), f11);
      b++;
    }
    f00.intoArray(out, output(token, pair));
    f01.intoArray(out, output(token, pair) + COUNT);
    f10.intoArray(out, output(token + 1, pair));
    f11.intoArray(out, output(token + 1, pair) + COUNT);
  }
}
