package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.PAIR;
import static firstlight.gpu.Lanes.SHORTS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The product for many tokens at once, of weights so small that 16 products fit a short: a pair of
 * groups of rows is unpacked to shorts, then four tokens at a time pass by.
 *
 * <p>Calls between vector operations are written out: the compiler stops inlining own methods in
 * long ones, and then every vector becomes an object.
 */
final class ShortPanel {
  /** Tokens whose sums are held in registers at once. */
  static final int TOKENS = 4;

  /** From so many tokens on unpacking pays. */
  static final int TOKENS_MIN = 16;

  private ShortPanel() {}

  /** Some blocks of columns of one pair of groups of rows. */
  private record Strip(int pair, int from, int to) {}

  /**
   * Multiplies a number of tokens that is a multiple of {@link #TOKENS} by one pair of groups.
   *
   * @param tile has the pair's scales and minima
   */
  static void multiply(
      QuantisedMatrix source,
      Activations in,
      Share.Range tokens,
      float[] out,
      int pair,
      Tile tile) {
    for (int from = 0; from < source.blocks; from += Tile.PANEL_BLOCKS) {
      Strip strip = new Strip(pair, from, Math.min(source.blocks, from + Tile.PANEL_BLOCKS));
      for (int block = from; block < strip.to; block++) {
        source.unpack(pair, block, tile.shorts, (block - from) * Activations.PAIRS * PAIR);
      }
      for (int token = tokens.from(); token < tokens.to(); token += TOKENS) {
        if (from == 0) {
          clear(source, token, out, pair);
        }
        four(source, in, token, out, strip, tile);
      }
    }
  }

  private static void clear(QuantisedMatrix source, int token, float[] out, int pair) {
    for (int i = 0; i < TOKENS; i++) {
      int to = source.output(token + i, pair);
      FloatVector.zero(FLOATS).intoArray(out, to);
      FloatVector.zero(FLOATS).intoArray(out, to + COUNT);
    }
  }

  private static void four(
      QuantisedMatrix source, Activations in, int token, float[] out, Strip strip, Tile tile) {
    final int[] weights = tile.shorts;
    final int[] x = in.pairs;
    final float[] step = in.scales;
    final float[] total = in.sums;
    final int row = in.blocks * Activations.PAIRS;
    final int to = source.output(token, strip.pair);
    final int stride = source.stride();
    FloatVector f00 = FloatVector.fromArray(FLOATS, out, to);
    FloatVector f01 = FloatVector.fromArray(FLOATS, out, to + COUNT);
    FloatVector f10 = FloatVector.fromArray(FLOATS, out, to + stride);
    FloatVector f11 = FloatVector.fromArray(FLOATS, out, to + stride + COUNT);
    FloatVector f20 = FloatVector.fromArray(FLOATS, out, to + 2 * stride);
    FloatVector f21 = FloatVector.fromArray(FLOATS, out, to + 2 * stride + COUNT);
    FloatVector f30 = FloatVector.fromArray(FLOATS, out, to + 3 * stride);
    FloatVector f31 = FloatVector.fromArray(FLOATS, out, to + 3 * stride + COUNT);
    int at = 0;
    int b = token * in.blocks + strip.from;
    for (int unit = strip.from * PAIR; unit < strip.to * PAIR; unit += PAIR) {
      ShortVector s00 = ShortVector.zero(SHORTS);
      ShortVector s01 = ShortVector.zero(SHORTS);
      ShortVector s10 = ShortVector.zero(SHORTS);
      ShortVector s11 = ShortVector.zero(SHORTS);
      ShortVector s20 = ShortVector.zero(SHORTS);
      ShortVector s21 = ShortVector.zero(SHORTS);
      ShortVector s30 = ShortVector.zero(SHORTS);
      ShortVector s31 = ShortVector.zero(SHORTS);
      final int first = b * Activations.PAIRS;
      for (int k = first; k < first + Activations.PAIRS; k++) {
        ShortVector w0 = IntVector.fromArray(INTS, weights, at).reinterpretAsShorts();
        ShortVector w1 = IntVector.fromArray(INTS, weights, at + COUNT).reinterpretAsShorts();
        ShortVector c0 = IntVector.broadcast(INTS, x[k]).reinterpretAsShorts();
        s00 = s00.add(w0.mul(c0));
        s01 = s01.add(w1.mul(c0));
        ShortVector c1 = IntVector.broadcast(INTS, x[k + row]).reinterpretAsShorts();
        s10 = s10.add(w0.mul(c1));
        s11 = s11.add(w1.mul(c1));
        ShortVector c2 = IntVector.broadcast(INTS, x[k + 2 * row]).reinterpretAsShorts();
        s20 = s20.add(w0.mul(c2));
        s21 = s21.add(w1.mul(c2));
        ShortVector c3 = IntVector.broadcast(INTS, x[k + 3 * row]).reinterpretAsShorts();
        s30 = s30.add(w0.mul(c3));
        s31 = s31.add(w1.mul(c3));
        at += PAIR;
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
      w = s20.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f20 = p.mul(step[b + 2 * in.blocks]).fma(d0, f20);
      f20 = m0.fma(FloatVector.broadcast(FLOATS, total[b + 2 * in.blocks]), f20);
      w = s21.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f21 = p.mul(step[b + 2 * in.blocks]).fma(d1, f21);
      f21 = m1.fma(FloatVector.broadcast(FLOATS, total[b + 2 * in.blocks]), f21);
      w = s30.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f30 = p.mul(step[b + 3 * in.blocks]).fma(d0, f30);
      f30 = m0.fma(FloatVector.broadcast(FLOATS, total[b + 3 * in.blocks]), f30);
      w = s31.reinterpretAsInts();
      p =
          (FloatVector)
              w.lanewise(VectorOperators.ASHR, 16)
                  .add(w.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16))
                  .convert(VectorOperators.I2F, 0);
      f31 = p.mul(step[b + 3 * in.blocks]).fma(d1, f31);
      f31 = m1.fma(FloatVector.broadcast(FLOATS, total[b + 3 * in.blocks]), f31);
      b++;
    }
    f00.intoArray(out, to);
    f01.intoArray(out, to + COUNT);
    f10.intoArray(out, to + stride);
    f11.intoArray(out, to + stride + COUNT);
    f20.intoArray(out, to + 2 * stride);
    f21.intoArray(out, to + 2 * stride + COUNT);
    f30.intoArray(out, to + 3 * stride);
    f31.intoArray(out, to + 3 * stride + COUNT);
  }
}
