package firstlight.gpu;

import firstlight.protocol.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * The queries of a Step in tiles of 16, each of one Slice: those of neighbouring rows together, so
 * that keys and values are read once for all of them.
 *
 * @param splitsMax of the context that any tile sees
 */
record StepTiles(List<Tile> tiles, int splitsMax) {

  /** As {@code Tile} in {@code attention.cuh}. */
  record Tile(int row, int position, int table, int firstSlot, int slots) {}

  /**
   * @param tableOf where the block table of each row begins
   * @param group query heads of a KV head
   */
  static StepTiles of(StepRows rows, int[] tableOf, int group) {
    List<Tile> tiles = new ArrayList<>();
    int splits = 1;
    int row = 0;
    for (Slice slice : rows.slices()) {
      int slots = slice.tokens().length * group;
      for (int slot = 0; slot < slots; slot += CudaShape.QUERIES) {
        int first = row + slot / group;
        tiles.add(
            new Tile(
                first,
                rows.positions()[first],
                tableOf[first],
                slot % group,
                Math.min(CudaShape.QUERIES, slots - slot)));
      }
      splits = Math.max(splits, (slice.end() + CudaShape.SPLIT - 1) / CudaShape.SPLIT);
      row += slice.tokens().length;
    }
    return new StepTiles(tiles, splits);
  }
}
