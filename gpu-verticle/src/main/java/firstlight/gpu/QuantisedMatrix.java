package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.PAIR;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Weights as in the file: small integers with a scale for every 32 columns, or for each half of
 * them, and a minimum where the type has minima. Activations are bytes, so products are sums of
 * integers, which are exact: neither their order nor the kernel that makes them matters. What
 * follows is floating point and has one order: for each block of columns {@code sum = (integers ×
 * step) × scale + sum}, then {@code sum = minimum × total + sum}.
 *
 * <p>Rows lie in pairs of groups, a group being as many as a vector has lanes: {@code
 * quants[pair][block][ints of a block][2][lane]}, so that a thread reads one stream of memory.
 */
abstract sealed class QuantisedMatrix implements Matrix permits NibbleMatrix, ByteMatrix {
  /** Tokens whose activations stay in the second cache while all rows pass by. */
  private static final int TOKENS_ABREAST = 128;

  final int blocks;
  final int[] quants;
  final MemorySegment quantsSegment;
  private final int rows;
  private final int columns;
  private final int intsABlock;
  final Scaling scaling;
  private final boolean natively;

  /**
   * How quants become weights.
   *
   * @param highs scales of the last 16 columns of each block; null: those of all
   * @param minima null: the scale times {@code centre}
   */
  record Scaling(Plane scales, @Nullable Plane highs, @Nullable Plane minima, float centre) {
    boolean lifted() {
      return minima != null || centre != 0;
    }
  }

  QuantisedMatrix(Shape shape, Scaling scaling) {
    this.rows = shape.rows;
    this.columns = shape.columns;
    this.blocks = shape.blocks();
    this.intsABlock = shape.intsABlock;
    this.quants = new int[Math.multiplyExact(shape.units(), intsABlock)];
    this.scaling = scaling;
    this.quantsSegment = MemorySegment.ofArray(quants);
    this.natively = shape.natively;
  }

  /** Sizes of a packed matrix. */
  record Shape(int rows, int columns, int intsABlock, boolean natively) {
    int blocks() {
      return columns / Activations.BLOCK;
    }

    /** Scales, when there is one for each row and block. */
    int units() {
      return Math.multiplyExact(Lanes.pairs(rows) * PAIR, blocks());
    }
  }

  /** Puts a row in its place; rows of different pairs may be packed by several threads. */
  final void pack(int row, QuantisedRow from) {
    for (int block = 0; block < blocks; block++) {
      int unit = unit(row, block);
      scaling.scales.put(unit, from.scales[2 * block]);
      if (scaling.highs != null) {
        scaling.highs.put(unit, from.scales[2 * block + 1]);
      }
      if (scaling.minima != null) {
        scaling.minima.put(unit, from.minima[block]);
      }
      for (int i = 0; i < Activations.BLOCK; i++) {
        quants[at(row, block) + place(i) * PAIR] |=
            field(from.quants[block * Activations.BLOCK + i]) << shift(i);
      }
    }
  }

  private int unit(int row, int block) {
    return (row / PAIR * blocks + block) * PAIR + row % PAIR;
  }

  private int at(int row, int block) {
    return (row / PAIR * blocks + block) * intsABlock * PAIR + row % PAIR;
  }

  /** Which int of a block holds a column of it. */
  abstract int place(int column);

  /** Where in that int its bits begin. */
  abstract int shift(int column);

  /** A quant as it is stored, before it is shifted to its place. */
  abstract int field(int quant);

  /** And back: what stands at the lowest bits. */
  abstract int quant(int stored);

  @Override
  public final int rows() {
    return rows;
  }

  @Override
  public final int columns() {
    return columns;
  }

  @Override
  public final int stride() {
    return Lanes.pairs(rows) * PAIR;
  }

  @Override
  public final Set<Activations.Form> forms() {
    return natively ? Set.of(Activations.Form.BYTES) : javaForms();
  }

  /** In which forms the bytes of the input are needed by Java's kernels. */
  abstract Set<Activations.Form> javaForms();

  @Override
  public final void row(int row, float[] into, int at) {
    for (int column = 0; column < columns; column++) {
      int block = column / Activations.BLOCK;
      int i = column % Activations.BLOCK;
      int unit = unit(row, block);
      Plane scales = i < 16 || scaling.highs == null ? scaling.scales : scaling.highs;
      float scale = scales.get(unit);
      float minimum = scaling.minima == null ? scale * scaling.centre : scaling.minima.get(unit);
      int quant = quant(quants[at(row, block) + place(i) * PAIR] >>> shift(i));
      into[at + column] = quant * scale + minimum;
    }
  }

  @Override
  public final void multiply(Activations in, int tokens, float[] out, Share share) {
    Share.Range pairs = share.range(Lanes.pairs(rows));
    for (int first = 0; first < tokens; first += TOKENS_ABREAST) {
      Share.Range some = new Share.Range(first, Math.min(tokens, first + TOKENS_ABREAST));
      if (natively) {
        NativeKernels.multiply(nativeKind(), this, in, some, out, pairs);
      } else {
        multiply(in, some, out, pairs);
      }
    }
  }

  private void multiply(Activations in, Share.Range tokens, float[] out, Share.Range pairs) {
    Tile tile = Tile.forBlocks(blocks);
    for (int pair = pairs.from(); pair < pairs.to(); pair++) {
      readScales(pair, tile);
      multiply(in, tokens, out, pair, tile);
    }
  }

  private void multiply(Activations in, Share.Range tokens, float[] out, int pair, Tile tile) {
    int count = tokens.to() - tokens.from();
    int token = tokens.from();
    if (count >= ShortPanel.TOKENS_MIN && narrow()) {
      int many = count / ShortPanel.TOKENS * ShortPanel.TOKENS;
      ShortPanel.multiply(this, in, new Share.Range(token, token + many), out, pair, tile);
      token += many;
    } else if (!narrow() && FloatPanel.pays(this, count)) {
      int many = count / FloatPanel.TOKENS * FloatPanel.TOKENS;
      tile.floats.multiply(this, in, new Share.Range(token, token + many), out, pair, tile);
      token += many;
    }
    for (; token + 2 <= tokens.to(); token += 2) {
      two(in, token, out, pair, tile);
    }
    if (token < tokens.to()) {
      one(in, token, out, pair, tile);
    }
  }

  private void readScales(int pair, Tile tile) {
    int from = pair * blocks * PAIR;
    int count = blocks * PAIR;
    scaling.scales.read(from, count, tile.scales);
    if (halves()) {
      (scaling.highs == null ? scaling.scales : scaling.highs).read(from, count, tile.highScales);
    }
    if (scaling.minima != null) {
      scaling.minima.read(from, count, tile.minima);
    } else if (narrow() || halves()) {
      // Kernels that are used with minima too find zeros, which change nothing.
      for (int i = 0; i < count; i++) {
        tile.minima[i] = tile.scales[i] * scaling.centre;
      }
    }
  }

  /** Whether the first and the last 16 columns of a block are scaled and added apart. */
  abstract boolean halves();

  final boolean lifted() {
    return scaling.lifted();
  }

  /** The kind of native kernel that does it. */
  abstract int nativeKind();

  /** Whether 16 products of a quant and an activation fit a short. */
  abstract boolean narrow();

  /** One token by one pair of groups. */
  abstract void one(Activations in, int token, float[] out, int pair, Tile tile);

  /** Two tokens by one pair of groups. */
  abstract void two(Activations in, int token, float[] out, int pair, Tile tile);

  /**
   * Unpacks a block of a pair to pairs of shorts, {@code [16][PAIR]}, in the order of {@link
   * Activations#pairs}; only where {@link #narrow()}.
   */
  abstract void unpack(int pair, int block, int[] into, int at);

  /** Unpacks a block of a pair to floats, {@code [column][PAIR]}; only where not narrow. */
  abstract void unpack(int pair, int block, float[] into);

  /** Where a pair's quants begin. */
  final int begin(int pair) {
    return pair * blocks * intsABlock * PAIR;
  }

  /** Where a token's outputs for a pair begin, and for its second group. */
  final int output(int token, int pair) {
    return token * stride() + pair * 2 * COUNT;
  }
}
