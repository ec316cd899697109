package firstlight.gpu;

import static firstlight.gpu.Lanes.PAIR;

/**
 * What a thread needs at hand while it multiplies one pair of groups of rows: their scales as
 * floats, and room to unpack their weights. One thread's own; it grows with the widest matrix.
 */
final class Tile {
  /** Blocks of columns that are unpacked at once; so many stay in the second cache. */
  static final int PANEL_BLOCKS = 64;

  private static final ThreadLocal<Tile> OWN = ThreadLocal.withInitial(Tile::new);

  /** {@code [block][PAIR]}, of the first 16 columns of a block, or of all. */
  float[] scales = {};

  /** The same for the last 16 columns. */
  float[] highScales = {};

  float[] minima = {};

  /** Keeps {@link Plane#touch} from being optimised away. */
  int touched;

  /** Weights as pairs of shorts: {@code [block][16][PAIR]}. */
  final int[] shorts = new int[PANEL_BLOCKS * Activations.PAIRS * PAIR];

  final FloatPanel floats = new FloatPanel();

  private Tile() {}

  /** The calling thread's own, with room for that many blocks of columns. */
  static Tile forBlocks(int blocks) {
    Tile tile = OWN.get();
    int size = blocks * PAIR;
    if (tile.scales.length < size) {
      tile.scales = new float[size];
      tile.highScales = new float[size];
      tile.minima = new float[size];
    }
    return tile;
  }
}
