package firstlight.gpu;

import static firstlight.gpu.Activations.PAIRS;
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
final class ByteMatrix implements Matrix, PanelProduct.Source {
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
    // Pairs of groups, since that is what is multiplied at once where there are many tokens.
    int group = 2 * share.from((groups + 1) / 2);
    int end = Math.min(groups, 2 * share.to((groups + 1) / 2));
    int many = tokens < Tiles.MANY_TOKENS ? 0 : tokens / PanelProduct.TOKENS * PanelProduct.TOKENS;
    if (many > 0) {
      PanelProduct panel = new PanelProduct();
      for (; group + 2 <= end; group += 2) {
        panel.multiply(this, in, many, out, group);
        few(in, new Share.Range(many, tokens), out, group, group + 2);
      }
    }
    for (; group < end; group += Tiles.GROUPS) {
      few(in, new Share.Range(0, tokens), out, group, Math.min(end, group + Tiles.GROUPS));
    }
  }

  private void few(Activations in, Share.Range tokens, float[] out, int from, int to) {
    for (int token = tokens.from(); token < tokens.to(); token++) {
      one(in, token, out, from, to);
    }
  }

  @Override
  public int blocks() {
    return blocks;
  }

  @Override
  public boolean halves() {
    return highScales != scales;
  }

  @Override
  public boolean lifted() {
    return minima.length > 0;
  }

  @Override
  public void unpack(int group, int block, PanelProduct panel, int slot) {
    int unit = (group * blocks + block) * COUNT;
    int at = unit * INTS_A_BLOCK;
    int to = slot * COUNT;
    for (int i = 0; i < INTS_A_BLOCK; i++) {
      IntVector v = IntVector.fromArray(INTS, quants, at);
      IntVector w = v.lanewise(VectorOperators.LSHL, 24).lanewise(VectorOperators.ASHR, 24);
      ((FloatVector) w.convert(VectorOperators.I2F, 0)).intoArray(panel.weights, to);
      w = v.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 24);
      ((FloatVector) w.convert(VectorOperators.I2F, 0)).intoArray(panel.weights, to + 2 * COUNT);
      w = v.lanewise(VectorOperators.LSHL, 8).lanewise(VectorOperators.ASHR, 24);
      ((FloatVector) w.convert(VectorOperators.I2F, 0)).intoArray(panel.weights, to + 32 * COUNT);
      w = v.lanewise(VectorOperators.ASHR, 24);
      ((FloatVector) w.convert(VectorOperators.I2F, 0)).intoArray(panel.weights, to + 34 * COUNT);
      at += COUNT;
      to += 4 * COUNT;
    }
    System.arraycopy(scales, unit, panel.scales, slot * COUNT, COUNT);
    System.arraycopy(highScales, unit, panel.highScales, slot * COUNT, COUNT);
    if (lifted()) {
      System.arraycopy(minima, unit, panel.minima, slot * COUNT, COUNT);
    }
  }

  private void one(Activations in, int token, float[] out, int from, int to) {
    for (int group = from; group < to; group++) {
      if (run == 1) {
        wide(in, token, out, group);
      } else {
        narrow(in, token, out, group);
      }
    }
  }

  /** Quants of eight bits: two products are as much as a short holds. */
  private void wide(Activations in, int token, float[] out, int group) {
    final int[] a = in.pairs;
    int unit = group * blocks * COUNT;
    int at = unit * INTS_A_BLOCK;
    int pair = token * in.blocks * PAIRS;
    int first = token * in.blocks;
    FloatVector sum = FloatVector.zero(FLOATS);
    for (int block = first; block < first + blocks; block++) {
      IntVector low = IntVector.zero(INTS);
      IntVector high = IntVector.zero(INTS);
      for (int j = 0; j < INTS_A_BLOCK; j++) {
        ShortVector v = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
        ShortVector even = v.lanewise(VectorOperators.LSHL, 8).lanewise(VectorOperators.ASHR, 8);
        ShortVector odd = v.lanewise(VectorOperators.ASHR, 8);
        even = even.mul(IntVector.broadcast(INTS, a[pair]).reinterpretAsShorts());
        odd = odd.mul(IntVector.broadcast(INTS, a[pair + 1]).reinterpretAsShorts());
        IntVector both = even.add(odd).reinterpretAsInts();
        high = high.add(both.lanewise(VectorOperators.ASHR, 16));
        both = both.lanewise(VectorOperators.LSHL, 16);
        low = low.add(both.lanewise(VectorOperators.ASHR, 16));
        at += COUNT;
        pair += 2;
      }
      FloatVector products = (FloatVector) low.add(high).convert(VectorOperators.I2F, 0);
      FloatVector scale = FloatVector.fromArray(FLOATS, scales, unit);
      sum = products.mul(in.scales[block]).fma(scale, sum);
      unit += COUNT;
    }
    sum.intoArray(out, token * stride() + group * COUNT);
  }

  private void narrow(Activations in, int token, float[] out, int group) {
    final int[] a = in.pairs;
    int unit = group * blocks * COUNT;
    int at = unit * INTS_A_BLOCK;
    int pair = token * in.blocks * PAIRS;
    int first = token * in.blocks;
    FloatVector sum = FloatVector.zero(FLOATS);
    for (int block = first; block < first + blocks; block++) {
      IntVector low = IntVector.zero(INTS);
      IntVector high = IntVector.zero(INTS);
      for (int j = 0; j < INTS_A_BLOCK; j += run) {
        ShortVector s = ShortVector.zero(SHORTS);
        for (int k = 0; k < run; k++) {
          ShortVector v = IntVector.fromArray(INTS, quants, at).reinterpretAsShorts();
          ShortVector even = v.lanewise(VectorOperators.LSHL, 8).lanewise(VectorOperators.ASHR, 8);
          ShortVector odd = v.lanewise(VectorOperators.ASHR, 8);
          s = s.add(even.mul(IntVector.broadcast(INTS, a[pair]).reinterpretAsShorts()));
          s = s.add(odd.mul(IntVector.broadcast(INTS, a[pair + 1]).reinterpretAsShorts()));
          at += COUNT;
          pair += 2;
        }
        IntVector both = s.reinterpretAsInts();
        high = high.add(both.lanewise(VectorOperators.ASHR, 16));
        both = both.lanewise(VectorOperators.LSHL, 16);
        low = low.add(both.lanewise(VectorOperators.ASHR, 16));
      }
      sum =
          halves()
              ? summed(low, high, unit, in.scales[block], sum)
              : summed(low.add(high), unit, in.scales[block], sum);
      if (lifted()) {
        FloatVector minimum = FloatVector.fromArray(FLOATS, minima, unit);
        sum = minimum.fma(FloatVector.broadcast(FLOATS, in.sums[block]), sum);
      }
      unit += COUNT;
    }
    sum.intoArray(out, token * stride() + group * COUNT);
  }

  private FloatVector summed(IntVector all, int unit, float step, FloatVector sum) {
    FloatVector products = (FloatVector) all.convert(VectorOperators.I2F, 0);
    return products.mul(step).fma(FloatVector.fromArray(FLOATS, scales, unit), sum);
  }

  /** The halves of a block, each in its own scale. */
  private FloatVector summed(IntVector low, IntVector high, int unit, float step, FloatVector sum) {
    FloatVector lows = (FloatVector) low.convert(VectorOperators.I2F, 0);
    FloatVector highs = (FloatVector) high.convert(VectorOperators.I2F, 0);
    FloatVector first = lows.mul(step).fma(FloatVector.fromArray(FLOATS, scales, unit), sum);
    return highs.mul(step).fma(FloatVector.fromArray(FLOATS, highScales, unit), first);
  }
}
