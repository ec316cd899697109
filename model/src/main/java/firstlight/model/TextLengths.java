package firstlight.model;

import static firstlight.model.GrammarNode.MANY;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many characters the texts of a node have, and the node with only those of some lengths. */
final class TextLengths {
  private TextLengths() {}

  /**
   * @param max {@link GrammarNode#MANY}: without an end
   */
  record Lengths(int min, int max) {
    private Lengths plus(Lengths other) {
      return new Lengths(
          bounded((long) min + other.min),
          max == MANY || other.max == MANY ? MANY : bounded((long) max + other.max));
    }

    private Lengths or(Lengths other) {
      return new Lengths(
          Math.min(min, other.min),
          max == MANY || other.max == MANY ? MANY : Math.max(max, other.max));
    }

    private Lengths times(int from, int to) {
      return new Lengths(
          bounded((long) min * from),
          max == 0 ? 0 : max == MANY || to == MANY ? MANY : bounded((long) max * to));
    }

    private boolean isFixed() {
      return min == max;
    }

    private boolean isWithin(Lengths other) {
      return min >= other.min && (other.max == MANY || max != MANY && max <= other.max);
    }
  }

  /** More than any text has. */
  private static int bounded(long length) {
    return (int) Math.min(length, Integer.MAX_VALUE / 2);
  }

  static Lengths of(GrammarNode node) {
    return switch (node) {
      case GrammarNode.Text(String text) -> {
        int length = text.codePointCount(0, text.length());
        yield new Lengths(length, length);
      }
      case GrammarNode.Character _ -> new Lengths(1, 1);
      case GrammarNode.Sequence(List<GrammarNode> parts) ->
          parts.stream().map(TextLengths::of).reduce(new Lengths(0, 0), Lengths::plus);
      case GrammarNode.Choice(List<GrammarNode> options) ->
          options.stream().map(TextLengths::of).reduce(Lengths::or).orElseThrow();
      case GrammarNode.Repeat(GrammarNode repeated, int min, int max) ->
          of(repeated).times(min, max);
      case GrammarNode.Reference _ -> new Lengths(0, MANY);
    };
  }

  /**
   * The texts of the node whose lengths are within the bounds.
   *
   * @return null: there are none
   * @throws InvalidGrammar the node is not simple enough to be cut
   */
  static @Nullable GrammarNode within(GrammarNode node, Lengths bounds) {
    Lengths lengths = of(node);
    if (lengths.isWithin(bounds)) {
      return node;
    }
    if (bounds.max != MANY && lengths.min > bounds.max
        || lengths.max != MANY && lengths.max < bounds.min) {
      return null;
    }
    return switch (node) {
      case GrammarNode.Choice(List<GrammarNode> options) -> choice(options, bounds);
      case GrammarNode.Sequence(List<GrammarNode> parts) -> sequence(parts, bounds);
      case GrammarNode.Repeat(GrammarNode repeated, int min, int max)
          when of(repeated).isFixed() && of(repeated).min > 0 ->
          repeat(repeated, new Lengths(min, max), bounds);
      default ->
          throw new InvalidGrammar(
              "a pattern with parts of several lengths cannot be joined with minLength or"
                  + " maxLength: write the lengths into the pattern");
    };
  }

  private static @Nullable GrammarNode choice(List<GrammarNode> options, Lengths bounds) {
    List<GrammarNode> cut = new ArrayList<>();
    for (GrammarNode option : options) {
      GrammarNode within = within(option, bounds);
      if (within != null) {
        cut.add(within);
      }
    }
    return cut.isEmpty() ? null : GrammarNode.choice(cut);
  }

  /** Cuts the one part that has not a fixed length. */
  private static @Nullable GrammarNode sequence(List<GrammarNode> parts, Lengths bounds) {
    List<GrammarNode> loose = parts.stream().filter(part -> !of(part).isFixed()).toList();
    int fixed =
        parts.stream().map(TextLengths::of).filter(Lengths::isFixed).mapToInt(Lengths::min).sum();
    if (loose.size() != 1) {
      return loosest(parts, loose, bounds);
    }
    int max = bounds.max == MANY ? MANY : bounds.max - fixed;
    GrammarNode cut = within(loose.getFirst(), new Lengths(Math.max(0, bounds.min - fixed), max));
    return cut == null ? null : replaced(parts, loose.getFirst(), cut);
  }

  /**
   * With several loose parts, a lower bound that one of them can keep by itself; and what stands
   * around a pattern without anchors may be left away.
   */
  private static @Nullable GrammarNode loosest(
      List<GrammarNode> parts, List<GrammarNode> loose, Lengths bounds) {
    if (bounds.max != MANY && loose.contains(RegexParser.ANYTHING)) {
      return within(replaced(parts, RegexParser.ANYTHING, GrammarNode.EMPTY), bounds);
    }
    int least = of(new GrammarNode.Sequence(parts)).min;
    for (GrammarNode part : loose) {
      if (bounds.max == MANY && part instanceof GrammarNode.Repeat && of(part).max == MANY) {
        Lengths longer = new Lengths(of(part).min + bounds.min - least, MANY);
        GrammarNode cut = within(part, longer);
        return cut == null ? null : replaced(parts, part, cut);
      }
    }
    throw new InvalidGrammar(
        "a pattern with several parts of open length cannot be joined with maxLength: write the"
            + " lengths into the pattern");
  }

  private static GrammarNode replaced(List<GrammarNode> parts, GrammarNode old, GrammarNode cut) {
    List<GrammarNode> changed = new ArrayList<>(parts);
    changed.set(parts.indexOf(old), cut);
    return new GrammarNode.Sequence(changed);
  }

  private static @Nullable GrammarNode repeat(GrammarNode repeated, Lengths times, Lengths bounds) {
    int length = of(repeated).min;
    int min = Math.max(times.min, Math.ceilDiv(bounds.min, length));
    int most = bounds.max == MANY ? MANY : bounds.max / length;
    int max = times.max == MANY ? most : most == MANY ? times.max : Math.min(times.max, most);
    return max != MANY && max < min ? null : new GrammarNode.Repeat(repeated, min, max);
  }
}
