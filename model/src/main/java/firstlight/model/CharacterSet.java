package firstlight.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A set of Unicode characters, never one half of a surrogate pair. Immutable.
 *
 * @param ranges first and last character of each range, ascending, with gaps between ranges
 */
record CharacterSet(List<Range> ranges) {
  static final int MAX = 0x10FFFF;
  private static final int SURROGATE_MIN = 0xD800;
  private static final int SURROGATE_MAX = 0xDFFF;
  static final CharacterSet NONE = new CharacterSet(List.of());
  static final CharacterSet ALL = NONE.complement();

  /** All characters from one to another, both included. */
  record Range(int from, int to) {}

  CharacterSet {
    ranges = List.copyOf(ranges);
  }

  static CharacterSet of(int character) {
    return range(character, character);
  }

  /** The characters of a text. */
  static CharacterSet of(String characters) {
    return normal(characters.codePoints().mapToObj(c -> new Range(c, c)).toList());
  }

  static CharacterSet range(int from, int to) {
    return normal(List.of(new Range(from, to)));
  }

  CharacterSet union(CharacterSet other) {
    List<Range> all = new ArrayList<>(ranges);
    all.addAll(other.ranges);
    return normal(all);
  }

  CharacterSet intersection(CharacterSet other) {
    return complement().union(other.complement()).complement();
  }

  CharacterSet without(CharacterSet other) {
    return intersection(other.complement());
  }

  CharacterSet complement() {
    List<Range> gaps = new ArrayList<>();
    int next = 0;
    for (Range range : ranges) {
      if (range.from > next) {
        gaps.add(new Range(next, range.from - 1));
      }
      next = range.to + 1;
    }
    if (next <= MAX) {
      gaps.add(new Range(next, MAX));
    }
    return normal(gaps);
  }

  boolean contains(int character) {
    return ranges.stream().anyMatch(range -> range.from <= character && character <= range.to);
  }

  boolean isEmpty() {
    return ranges.isEmpty();
  }

  private static CharacterSet normal(List<Range> any) {
    List<Range> split = new ArrayList<>();
    for (Range range : any) {
      add(split, range.from, Math.min(range.to, SURROGATE_MIN - 1));
      add(split, Math.max(range.from, SURROGATE_MAX + 1), Math.min(range.to, MAX));
    }
    Range[] sorted = split.toArray(Range[]::new);
    Arrays.sort(sorted, (a, b) -> Integer.compare(a.from, b.from));
    List<Range> merged = new ArrayList<>();
    for (Range range : sorted) {
      Range last = merged.isEmpty() ? null : merged.getLast();
      if (last != null && range.from <= last.to + 1) {
        merged.set(merged.size() - 1, new Range(last.from, Math.max(last.to, range.to)));
      } else {
        merged.add(range);
      }
    }
    return new CharacterSet(merged);
  }

  private static void add(List<Range> ranges, int from, int to) {
    if (from <= to) {
      ranges.add(new Range(from, to));
    }
  }
}
