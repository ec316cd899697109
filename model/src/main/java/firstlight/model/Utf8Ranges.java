package firstlight.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Characters as sequences of byte ranges in UTF-8, after Ken Thompson's construction: every range
 * of characters falls into few blocks in which each byte ranges on its own.
 */
final class Utf8Ranges {
  /** Last characters of one, two, three and four bytes. */
  private static final int[] LASTS = {0x7F, 0x7FF, 0xFFFF, CharacterSet.MAX};

  private static final int[] LEADS = {0, 0xC0, 0xE0, 0xF0};

  private final List<int[]> sequences = new ArrayList<>();

  private Utf8Ranges() {}

  /** Each: lowest and highest first byte, lowest and highest second byte, and so on. */
  static List<int[]> of(CharacterSet set) {
    Utf8Ranges ranges = new Utf8Ranges();
    for (CharacterSet.Range range : set.ranges()) {
      int from = range.from();
      for (int length = 1; length <= LASTS.length && from <= range.to(); length++) {
        if (from <= LASTS[length - 1]) {
          ranges.split(from, Math.min(range.to(), LASTS[length - 1]), length);
          from = LASTS[length - 1] + 1;
        }
      }
    }
    return ranges.sequences;
  }

  /** Cuts where the last bytes would not go over their whole range. */
  private void split(int from, int to, int length) {
    for (int tail = 1; tail < length; tail++) {
      int mask = (1 << (6 * tail)) - 1;
      if ((from & ~mask) != (to & ~mask)) {
        if ((from & mask) != 0) {
          split(from, from | mask, length);
          split((from | mask) + 1, to, length);
          return;
        }
        if ((to & mask) != mask) {
          split(from, (to & ~mask) - 1, length);
          split(to & ~mask, to, length);
          return;
        }
      }
    }
    int[] sequence = new int[2 * length];
    for (int i = 0; i < length; i++) {
      int shift = 6 * (length - 1 - i);
      int bits = i == 0 ? LEADS[length - 1] : 0x80;
      int kept = i == 0 ? ~0 : 0x3F;
      sequence[2 * i] = bits | (from >> shift & kept);
      sequence[2 * i + 1] = bits | (to >> shift & kept);
    }
    sequences.add(sequence);
  }
}
