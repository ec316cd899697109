package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.SHORTS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Weights of four bits: for every 32 columns a scale and a minimum.
 *
 * <p>A nibble (up to 15) times an activation (up to 127) fits a short, and so does the sum of 16
 * such products (up to 30,480). So half a block is summed in each half of an int lane before
 * anything is widened. Integer sums are exact, which makes their order irrelevant.
 *
 * <p>Layout: {@code quants[group][block][4][lane]}; the nibble at bit 4 s of int j belongs to
 * column 4 j + s of its block, that at bit 16 + 4 s to the column 16 further.
 */
final class NibbleMatrix implements Matrix, PanelProduct.Source {
  private static final int INTS_A_BLOCK = 4;
  private static final int MASK = 0x000f000f;

  private final int rows;
  private final int columns;
  private final int blocks;
  private final int[] quants;
  private final float[] scales;
  private final float[] minima;

  NibbleMatrix(int rows, int columns) {
    this.rows = rows;
    this.columns = columns;
    this.blocks = columns / Activations.BLOCK;
    int units = Math.multiplyExact(Lanes.groups(rows), blocks);
    this.quants = new int[Math.multiplyExact(units, INTS_A_BLOCK * COUNT)];
    this.scales = new float[units * COUNT];
    this.minima = new float[units * COUNT];
  }

  /** Puts a row in its place; rows may be packed by several threads. */
  void pack(int row, QuantisedRow from) {
    int lane = row % COUNT;
    for (int block = 0; block < blocks; block++) {
      int unit = row / COUNT * blocks + block;
      scales[unit * COUNT + lane] = from.scales[2 * block];
      minima[unit * COUNT + lane] = from.minima[block];
      for (int i = 0; i < Activations.BLOCK; i++) {
        int shift = i / 16 * 16 + i % 4 * 4;
        quants[(unit * INTS_A_BLOCK + i % 16 / 4) * COUNT + lane] |=
            from.quants[block * Activations.BLOCK + i] << shift;
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
      int packed = quants[(unit * INTS_A_BLOCK + i % 16 / 4) * COUNT + lane];
      int quant = packed >>> i / 16 * 16 + i % 4 * 4 & 15;
      into[at + column] = quant * scales[unit * COUNT + lane] + minima[unit * COUNT + lane];
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
    return false;
  }

  @Override
  public boolean lifted() {
    return true;
  }

  @Override
  public void unpack(int group, int block, PanelProduct panel, int slot) {
    int unit = (group * blocks + block) * COUNT;
    int at = unit * INTS_A_BLOCK;
    int to = slot * COUNT;
    for (int i = 0; i < 16; i += 4) {
      IntVector v = IntVector.fromArray(INTS, quants, at);
      for (int k = 0; k < 4; k++) {
        ((FloatVector) v.and(15).convert(VectorOperators.I2F, 0)).intoArray(panel.weights, to);
        ((FloatVector) v.lanewise(VectorOperators.LSHR, 16).and(15).convert(VectorOperators.I2F, 0))
            .intoArray(panel.weights, to + 32 * COUNT);
        v = v.lanewise(VectorOperators.LSHR, 4);
        to += 2 * COUNT;
      }
      at += COUNT;
    }
    System.arraycopy(scales, unit, panel.scales, slot * COUNT, COUNT);
    System.arraycopy(minima, unit, panel.minima, slot * COUNT, COUNT);
  }

  private void one(Activations in, int token, float[] out, int from, int to) {
    final int[] a = in.pairs;
    final int out0 = token * stride();
    for (int group = from; group < to; group++) {
      int unit = group * blocks * COUNT;
      int at = unit * INTS_A_BLOCK;
      int pair = token * in.blocks * Activations.PAIRS;
      int block = token * in.blocks;
      FloatVector sum = FloatVector.zero(FLOATS);
      for (int b = 0; b < blocks; b++) {
        ShortVector s = ShortVector.zero(SHORTS);
        ShortVector t = ShortVector.zero(SHORTS);
        for (int j = 0; j < INTS_A_BLOCK; j++) {
          IntVector v = IntVector.fromArray(INTS, quants, at);
          ShortVector w = v.and(MASK).reinterpretAsShorts();
          s = s.add(w.mul(IntVector.broadcast(INTS, a[pair]).reinterpretAsShorts()));
          w = v.lanewise(VectorOperators.LSHR, 4).and(MASK).reinterpretAsShorts();
          t = t.add(w.mul(IntVector.broadcast(INTS, a[pair + 1]).reinterpretAsShorts()));
          w = v.lanewise(VectorOperators.LSHR, 8).and(MASK).reinterpretAsShorts();
          s = s.add(w.mul(IntVector.broadcast(INTS, a[pair + 2]).reinterpretAsShorts()));
          w = v.lanewise(VectorOperators.LSHR, 12).and(MASK).reinterpretAsShorts();
          t = t.add(w.mul(IntVector.broadcast(INTS, a[pair + 3]).reinterpretAsShorts()));
          at += COUNT;
          pair += 4;
        }
        FloatVector scale = FloatVector.fromArray(FLOATS, scales, unit);
        FloatVector minimum = FloatVector.fromArray(FLOATS, minima, unit);
        sum = widened(s.add(t)).mul(in.scales[block]).fma(scale, sum);
        sum = minimum.fma(FloatVector.broadcast(FLOATS, in.sums[block]), sum);
        unit += COUNT;
        block++;
      }
      sum.intoArray(out, out0 + group * COUNT);
    }
  }

  /** The two shorts of each int lane, added. */
  private static FloatVector widened(ShortVector sums) {
    IntVector both = sums.reinterpretAsInts();
    IntVector high = both.lanewise(VectorOperators.ASHR, 16);
    IntVector low = both.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16);
    return (FloatVector) high.add(low).convert(VectorOperators.I2F, 0);
  }
}
