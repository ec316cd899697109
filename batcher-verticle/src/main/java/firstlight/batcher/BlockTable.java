package firstlight.batcher;

import java.util.Arrays;

/** The Blocks of one Sequence, in the order of its positions. */
final class BlockTable {
  private int[] blocks = new int[4];
  private int size;
  private int known;

  void append(int block) {
    if (size == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * size);
    }
    blocks[size++] = block;
  }

  /** Takes over Blocks that the prefix index knows; the table must be empty. */
  void begin(int[] found) {
    for (int block : found) {
      append(block);
    }
    known = found.length;
  }

  /** The next Block became known to the prefix index, which may know it as another one. */
  void makeKnown(int block) {
    blocks[known++] = block;
  }

  int get(int index) {
    return blocks[index];
  }

  int size() {
    return size;
  }

  /** That many Blocks from the first are known to the prefix index. */
  int known() {
    return known;
  }

  /** The last Block that is known, or {@link PrefixIndex#ROOT}. */
  int lastKnown() {
    return known == 0 ? PrefixIndex.ROOT : blocks[known - 1];
  }

  int[] toArray() {
    return Arrays.copyOf(blocks, size);
  }

  /** Gives all Blocks back, the last one first: the beginning of a prompt is worth keeping most. */
  void releaseAll(BlockPool pool) {
    while (size > 0) {
      pool.release(blocks[--size]);
    }
    known = 0;
  }
}
