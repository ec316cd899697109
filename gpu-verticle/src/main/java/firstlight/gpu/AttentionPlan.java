package firstlight.gpu;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How the attention of one Step is dealt out among threads, which changes no number. Rows of one
 * Slice are taken together as far as a tile goes. Where one tile is much of the whole work, as a
 * long Sequence's is, its splits are dealt out too; whoever ends the last of them folds them all.
 *
 * @param units the longest first
 */
record AttentionPlan(int window, List<Unit> units) {
  /** Units for each thread, if the work can be cut into as many. */
  private static final int UNITS_A_THREAD = 4;

  /** What a query costs beside its positions, in positions. */
  private static final int ROW_COST = 32;

  /**
   * Neighbouring rows of a Slice.
   *
   * @param split the first that any of them sees, and {@code end} the one after the last
   */
  record Tile(int row, int rows, int split, int end) {
    long cost() {
      return (long) rows * ((end - split) * (long) Attention.SPLIT + ROW_COST);
    }
  }

  /**
   * Work for one thread: some splits of a tile for one KV head and its queries.
   *
   * @param partials where the partial results of the tile's splits are kept, when it is shared
   * @param pieces how many units the tile and head make
   * @param left how many of them are not done yet in this layer
   */
  record Unit(
      Tile tile, int kvHead, int split, int end, int partials, int pieces, AtomicInteger left) {
    boolean isWhole() {
      return split == tile.split && end == tile.end;
    }

    /** Whether the tile's last positions are part of this, and so the rows' own. */
    boolean isLast() {
      return end == tile.end;
    }

    long cost() {
      return tile.cost() * (end - split) / (tile.end - tile.split);
    }
  }

  /**
   * What plans depend on besides the Step.
   *
   * @param kvHeads of the model
   * @param group query heads of each
   * @param record floats of a query's partial result
   * @param partialsMax floats of all partial results that can be kept
   */
  record Shape(int threads, int kvHeads, int group, int record, int partialsMax) {
    int rowsMax() {
      return Math.max(1, Attention.QUERIES / group);
    }

    int partial(Tile tile) {
      int quads = (tile.rows * group + AttentionKernels.QUAD - 1) / AttentionKernels.QUAD;
      return quads * AttentionKernels.QUAD * record;
    }
  }

  /**
   * @param window positions that a row sees, its own included
   */
  static AttentionPlan of(StepRows rows, int window, Shape shape) {
    List<Tile> tiles = tiles(rows, window, shape.rowsMax());
    long cost = tiles.stream().mapToLong(Tile::cost).sum() * shape.kvHeads;
    long most = Math.max(1, cost / ((long) shape.threads * UNITS_A_THREAD));
    List<Unit> units = new ArrayList<>();
    long partials = 0;
    for (Tile tile : tiles) {
      int splits = tile.end - tile.split;
      int pieces = (int) Math.min(splits, (tile.cost() + most - 1) / most);
      long needed = (long) splits * shape.partial(tile);
      for (int kvHead = 0; kvHead < shape.kvHeads; kvHead++) {
        boolean shared = shape.threads > 1 && pieces > 1 && partials + needed <= shape.partialsMax;
        cut(tile, kvHead, shared ? pieces : 1, (int) partials, units);
        partials += shared ? needed : 0;
      }
    }
    units.sort(Comparator.comparingLong(Unit::cost).reversed());
    return new AttentionPlan(window, List.copyOf(units));
  }

  private static void cut(Tile tile, int kvHead, int pieces, int partials, List<Unit> into) {
    AtomicInteger left = new AtomicInteger(pieces);
    int splits = tile.end - tile.split;
    for (int piece = 0; piece < pieces; piece++) {
      int split = tile.split + splits * piece / pieces;
      int end = tile.split + splits * (piece + 1) / pieces;
      into.add(new Unit(tile, kvHead, split, end, partials, pieces, left));
    }
  }

  private static List<Tile> tiles(StepRows rows, int window, int rowsMax) {
    List<Tile> tiles = new ArrayList<>();
    for (int row = 0; row < rows.count(); ) {
      int end = row + 1;
      while (end < rows.count()
          && end - row < rowsMax
          && rows.sliceOf()[end] == rows.sliceOf()[row]) {
        end++;
      }
      int from = Math.max(0, rows.positions()[row] + 1 - window);
      int last = rows.positions()[end - 1];
      tiles.add(new Tile(row, end - row, from / Attention.SPLIT, last / Attention.SPLIT + 1));
      row = end;
    }
    return tiles;
  }
}
