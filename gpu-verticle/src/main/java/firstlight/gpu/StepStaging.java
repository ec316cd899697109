package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Writes what a Step's kernels are told into pinned memory, and sends it. Nobody writes while the
 * GPU still reads: a Step is waited for before the next one is written.
 */
final class StepStaging {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final long EXTRAS_BYTES = 1 << 20;

  private final Gpu gpu;
  private final CudaShape shape;
  private final PinnedMemory pinnedTold;
  private final DeviceMemory told;
  private final PinnedMemory pinnedTables;
  private final DeviceMemory tables;
  private PinnedMemory pinnedExtras;
  private DeviceMemory extras;
  private final Penalties penalties;
  private final WordList words = new WordList();
  private int tableWords;

  StepStaging(Gpu gpu, CudaShape shape, int vocabulary) {
    this.gpu = gpu;
    this.shape = shape;
    int rows = shape.stepTokensMax();
    StepBucket largest = new StepBucket(rows, rows, 1);
    long bytes = StepLayout.of(largest, shape.tiles(rows)).end();
    pinnedTold = gpu.pin(bytes);
    told = gpu.allocate(bytes, "Steps");
    long perTable = (shape.contextMax() + shape.blockTokens() - 1L) / shape.blockTokens();
    pinnedTables = gpu.pin(rows * perTable * Integer.BYTES);
    tables = gpu.allocate(rows * perTable * Integer.BYTES, "block tables");
    pinnedExtras = gpu.pin(EXTRAS_BYTES);
    extras = gpu.allocate(EXTRAS_BYTES, "penalties and masks");
    penalties = new Penalties(vocabulary);
  }

  long told() {
    return told.address();
  }

  long tables() {
    return tables.address();
  }

  /** Changes when {@link #write} says so. */
  long extras() {
    return extras.address();
  }

  /** Lays out the block tables: where that of each row begins. */
  int[] tables(StepRows rows) {
    MemorySegment to = pinnedTables.segment();
    int[] tableOf = new int[rows.count()];
    int at = 0;
    int row = 0;
    for (Slice slice : rows.slices()) {
      for (int i = 0; i < slice.tokens().length; i++) {
        tableOf[row++] = at;
      }
      int count = (slice.end() + shape.blockTokens() - 1) / shape.blockTokens();
      MemorySegment.copy(slice.blocks(), 0, to, INT, (long) at * Integer.BYTES, count);
      at += count;
    }
    tableWords = at;
    return tableOf;
  }

  /**
   * Writes the rest.
   *
   * @return whether the extras have moved: what was prepared with their address is void
   */
  boolean write(StepRows rows, StepBucket bucket, int[] tableOf, StepTiles tiles) {
    StepLayout layout = StepLayout.of(bucket, shape.tiles(bucket.rows()));
    MemorySegment to = pinnedTold.segment();
    int[] counts = {rows.count(), rows.sampled().length, tiles.tiles().size(), bucket.splits()};
    write(counts, to, 0);
    write(rows.tokens(), to, layout.tokens());
    write(rows.positions(), to, layout.positions());
    write(tableOf, to, layout.tableOf());
    write(rows.sampled(), to, layout.wanted());
    writeTiles(tiles.tiles(), to, layout.tiles());
    words.clear();
    for (int i = 0; i < rows.sampled().length; i++) {
      choice(rows, rows.sampled()[i], to, layout.choices() + (long) i * StepLayout.CHOICE_BYTES);
    }
    return fit((long) words.size() * Integer.BYTES);
  }

  /** Sends all that was written. */
  void send(StepBucket bucket) {
    long bytes = StepLayout.of(bucket, shape.tiles(bucket.rows())).end();
    gpu.stream().upload(pinnedTold, 0, told, 0, bytes);
    gpu.stream().upload(pinnedTables, 0, tables, 0, (long) tableWords * Integer.BYTES);
    if (words.size() > 0) {
      write(words.words(), words.size(), pinnedExtras.segment(), 0);
      gpu.stream().upload(pinnedExtras, 0, extras, 0, (long) words.size() * Integer.BYTES);
    }
  }

  private boolean fit(long bytes) {
    if (bytes <= extras.bytes()) {
      return false;
    }
    long larger = Math.max(bytes, 2 * extras.bytes());
    gpu.free(extras);
    gpu.free(pinnedExtras);
    pinnedExtras = gpu.pin(larger);
    extras = gpu.allocate(larger, "penalties and masks");
    return true;
  }

  private static void write(int[] from, MemorySegment to, long at) {
    write(from, from.length, to, at);
  }

  private static void write(int[] from, int count, MemorySegment to, long at) {
    MemorySegment.copy(from, 0, to, INT, at, count);
  }

  private static void writeTiles(List<StepTiles.Tile> tiles, MemorySegment to, long at) {
    long next = at;
    for (StepTiles.Tile tile : tiles) {
      int[] words = {tile.row(), tile.position(), tile.table(), tile.firstSlot(), tile.slots()};
      write(words, to, next);
      next += StepLayout.TILE_BYTES;
    }
  }

  private void choice(StepRows rows, int row, MemorySegment to, long at) {
    Slice slice = rows.slice(row);
    Sampling sampling = slice.sampling();
    int position = rows.positions()[row] + 1;
    to.set(LONG, at, sampling.seed());
    to.set(INT, at + 8, position);
    to.set(FLOAT, at + 12, sampling.temperature());
    to.set(INT, at + 16, sampling.topK());
    float[] reals = {
      sampling.topP(),
      sampling.minP(),
      sampling.repetitionPenalty(),
      sampling.presencePenalty(),
      sampling.frequencyPenalty()
    };
    MemorySegment.copy(reals, 0, to, FLOAT, at + 20, reals.length);
    int penalised = words.size();
    int count = sampling.hasPenalties() ? penalties.list(slice, position, words) : 0;
    int biased = words.size();
    words.addAll(sampling.biasTokens(), sampling.biasTokens().length);
    for (float bias : sampling.biasValues()) {
      words.add(Float.floatToRawIntBits(bias));
    }
    int[] lists = {
      penalised,
      count,
      biased,
      sampling.biasTokens().length,
      mask(slice, position),
      sampling.topLogprobs()
    };
    write(lists, to, at + 40);
  }

  /** Adds the mask of a row, if it has one. */
  private int mask(Slice slice, int position) {
    long[] allowed = slice.allowedAt(position - 1);
    if (allowed == null) {
      return -1;
    }
    int at = words.size();
    for (long word : allowed) {
      words.add((int) word);
      words.add((int) (word >>> 32));
    }
    return at;
  }
}
