package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.SHORTS;

import firstlight.model.TensorType;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Weights of five, six or eight bits, held as signed bytes: for every 32 columns a scale, or one
 * for each half of them, and a minimum where the type has minima.
 *
 * <p>Two products of signed bytes, where one side is within ±127, always fit a short, eight fit
 * when the other side is within ±32, and sixteen when it is within ±16: so many are added in the
 * halves of int lanes before they are widened. The low halves of the int lanes belong to the first
 * 16 columns of a block and the high halves to the last 16, so halves with scales of their own cost
 * next to nothing.
 *
 * <p>Layout: {@code quants[group][block][8][lane]}; bytes 0 and 1 of int j belong to columns 2 j
 * and 2 j + 1 of its block, bytes 2 and 3 to those 16 further.
 */
final class ByteMatrix implements Matrix {
  private static final int INTS_A_BLOCK = 8;

  private final int rows;
  private final int columns;
  private final int blocks;
  private final int[] quants;
  private final float[] scales;
  private final float[] highScales;
  private final float[] minima;

  /** Ints of a block that are multiplied before their sums are widened: 1, 4 or 8. */
  private final int run;

  ByteMatrix(int rows, int columns, TensorType type) {
    boolean halves = QuantisedRow.hasHalfScales(type);
    boolean withMinima = QuantisedRow.hasMinima(type);
    this.run =
        switch (type) {
          case Q5_0 -> 8;
          case Q5_1, Q5_K, Q6_K -> 4;
          default -> 1;
        };
    this.rows = rows;
    this.columns = columns;
    this.blocks = columns / Activations.BLOCK;
    int units = Math.multiplyExact(Lanes.groups(rows), blocks);
    this.quants = new int[Math.multiplyExact(units, INTS_A_BLOCK * COUNT)];
    this.scales = new float[units * COUNT];
    this.highScales = halves ? new float[units * COUNT] : scales;
    this.minima = new float[withMinima ? units * COUNT : 0];
  }

  /** Puts a row in its place; rows may be packed by several threads. */
  void pack(int row, QuantisedRow from) {
    int lane = row % COUNT;
    for (int block = 0; block < blocks; block++) {
      int unit = row / COUNT * blocks + block;
      scales[unit * COUNT + lane] = from.scales[2 * block];
      // Where both are one array, this is the same number again.
      highScales[unit * COUNT + lane] = from.scales[2 * block + 1];
      if (minima.length > 0) {
        minima[unit * COUNT + lane] = from.minima[block];
      }
      for (int i = 0; i < Activations.BLOCK; i++) {
        int shift = i / 16 * 16 + i % 2 * 8;
        quants[(unit * INTS_A_BLOCK + i % 16 / 2) * COUNT + lane] |=
            (from.quants[block * Activations.BLOCK + i] & 0xff) << shift;
      }
    }
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public int stride() {
    return Lanes.groups(rows) * COUNT;
  }

  @Override
  public void row(int row, float[] into, int at) {
    int lane = row % COUNT;
    for (int column = 0; column < columns; column++) {
      int unit = row / COUNT * blocks + column / Activations.BLOCK;
      int i = column % Activations.BLOCK;
      int packed = quants[(unit * INTS_A_BLOCK + i % 16 / 2) * COUNT + lane];
      byte quant = (byte) (packed >>> i / 16 * 16 + i % 2 * 8);
      float scale = (i < 16 ? scales : highScales)[unit * COUNT + lane];
      float minimum = minima.length > 0 ? minima[unit * COUNT + lane] : 0;
      into[at + column] = quant * scale + minimum;
    }
  }

  @Override
  public void multiply(Activations in, int tokens, float[] out, Share share) {
    int groups = Lanes.groups(rows);
    int end = share.to(groups);
    for (int group = share.from(groups); group < end; group += Tiles.GROUPS) {
      int tile = Math.min(end, group + Tiles.GROUPS);
      int token = 0;
      for (; token + Tiles.TOKENS <= tokens; token += Tiles.TOKENS) {
        four(in, token, out, group, tile);
      }
      for (; token < tokens; token++) {
        one(in, token, out, group, tile);
      }
    }
  }

  private void one(Activations in, int token, float[] out, int from, int to) {
    final int out0 = token * stride();
    for (int group = from; group < to; group++) {
      int unit = group * blocks * COUNT;
      int at = unit * INTS_A_BLOCK;
      int pair = token * in.blocks * Activations.PAIRS;
      int block = token * in.blocks;
      FloatVector sum = FloatVector.zero(FLOATS);
      for (int b = 0; b < blocks; b++) {
        IntVector low = IntVector.zero(INTS);
        IntVector high = IntVector.zero(INTS);
        for (int j = 0; j < INTS_A_BLOCK; j += run) {
          ShortVector s = ShortVector.zero(SHORTS);
          for (int k = 0; k < run; k++) {
            ShortVector v = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
            s = s.add(even(v).mul(pair(in.pairs, pair)));
            s = s.add(v.lanewise(VectorOperators.ASHR, 8).mul(pair(in.pairs, pair + 1)));
            at += COUNT;
            pair += 2;
          }
          high = high.add(high(s));
          low = low.add(low(s));
        }
        sum = summed(sum, low, high, unit, in.scales[block]);
        sum = lifted(sum, unit, in.sums[block]);
        unit += COUNT;
        block++;
      }
      sum.intoArray(out, out0 + group * COUNT);
    }
  }

  private void four(Activations in, int token, float[] out, int from, int to) {
    for (int group = from; group < to; group++) {
      four(in, token, out, group);
    }
  }

  private void four(Activations in, int token, float[] out, int group) {
    int unit = group * blocks * COUNT;
    int at = unit * INTS_A_BLOCK;
    final int[] a = in.pairs;
    int p0 = token * in.blocks * Activations.PAIRS;
    int p1 = p0 + in.blocks * Activations.PAIRS;
    int p2 = p1 + in.blocks * Activations.PAIRS;
    int p3 = p2 + in.blocks * Activations.PAIRS;
    FloatVector sum0 = FloatVector.zero(FLOATS);
    FloatVector sum1 = sum0;
    FloatVector sum2 = sum0;
    FloatVector sum3 = sum0;
    for (int block = token * in.blocks; block < (token + 1) * in.blocks; block++) {
      IntVector low0 = IntVector.zero(INTS);
      IntVector low1 = low0;
      IntVector low2 = low0;
      IntVector low3 = low0;
      IntVector high0 = low0;
      IntVector high1 = low0;
      IntVector high2 = low0;
      IntVector high3 = low0;
      for (int j = 0; j < INTS_A_BLOCK; j += run) {
        ShortVector s0 = ShortVector.zero(SHORTS);
        ShortVector s1 = s0;
        ShortVector s2 = s0;
        ShortVector s3 = s0;
        for (int k = 0; k < run; k++) {
          ShortVector v = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
          ShortVector even = even(v);
          ShortVector odd = v.lanewise(VectorOperators.ASHR, 8);
          s0 = s0.add(even.mul(pair(a, p0))).add(odd.mul(pair(a, p0 + 1)));
          s1 = s1.add(even.mul(pair(a, p1))).add(odd.mul(pair(a, p1 + 1)));
          s2 = s2.add(even.mul(pair(a, p2))).add(odd.mul(pair(a, p2 + 1)));
          s3 = s3.add(even.mul(pair(a, p3))).add(odd.mul(pair(a, p3 + 1)));
          at += COUNT;
          p0 += 2;
          p1 += 2;
          p2 += 2;
          p3 += 2;
        }
        high0 = high0.add(high(s0));
        low0 = low0.add(low(s0));
        high1 = high1.add(high(s1));
        low1 = low1.add(low(s1));
        high2 = high2.add(high(s2));
        low2 = low2.add(low(s2));
        high3 = high3.add(high(s3));
        low3 = low3.add(low(s3));
      }
      int b1 = block + 1 * in.blocks;
      int b2 = block + 2 * in.blocks;
      int b3 = block + 3 * in.blocks;
      sum0 = summed(sum0, low0, high0, unit, in.scales[block]);
      sum0 = lifted(sum0, unit, in.sums[block]);
      sum1 = summed(sum1, low1, high1, unit, in.scales[b1]);
      sum1 = lifted(sum1, unit, in.sums[b1]);
      sum2 = summed(sum2, low2, high2, unit, in.scales[b2]);
      sum2 = lifted(sum2, unit, in.sums[b2]);
      sum3 = summed(sum3, low3, high3, unit, in.scales[b3]);
      sum3 = lifted(sum3, unit, in.sums[b3]);
      unit += COUNT;
    }
    int to = token * stride() + group * COUNT;
    sum0.intoArray(out, to);
    sum1.intoArray(out, to + stride());
    sum2.intoArray(out, to + 2 * stride());
    sum3.intoArray(out, to + 3 * stride());
  }

  /** The first byte of each short. */
  private static ShortVector even(ShortVector bytes) {
    return bytes.lanewise(VectorOperators.LSHL, 8).lanewise(VectorOperators.ASHR, 8);
  }

  private static ShortVector pair(int[] pairs, int at) {
    return IntVector.broadcast(INTS, pairs[at]).reinterpretAsShorts();
  }

  private static IntVector high(ShortVector sums) {
    return sums.reinterpretAsInts().lanewise(VectorOperators.ASHR, 16);
  }

  private static IntVector low(ShortVector sums) {
    return sums.reinterpretAsInts()
        .lanewise(VectorOperators.LSHL, 16)
        .lanewise(VectorOperators.ASHR, 16);
  }

  /** Adds a block's products, each half in its scale. */
  private FloatVector summed(FloatVector sum, IntVector low, IntVector high, int unit, float step) {
    FloatVector lows = (FloatVector) low.convert(VectorOperators.I2F, 0);
    FloatVector highs = (FloatVector) high.convert(VectorOperators.I2F, 0);
    FloatVector first = lows.mul(step).fma(FloatVector.fromArray(FLOATS, scales, unit), sum);
    return highs.mul(step).fma(FloatVector.fromArray(FLOATS, highScales, unit), first);
  }

  /** Adds the block's minimum times the sum of its activations. */
  private FloatVector lifted(FloatVector sum, int unit, float activations) {
    return minima.length == 0
        ? sum
        : FloatVector.fromArray(FLOATS, minima, unit)
            .fma(FloatVector.broadcast(FLOATS, activations), sum);
  }
}
