package firstlight.model;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Multiples of a number. */
final class Multiples {
  private static final int COUNTED_MAX = 10_000;

  private Multiples() {}

  /** Null: no bound. */
  record Range(NumberRanges.@Nullable Bound low, NumberRanges.@Nullable Bound high) {}

  static GrammarNode of(SchemaNode schema, BigDecimal step, Range range, boolean integer) {
    if (integer && step.compareTo(BigDecimal.ONE) == 0) {
      GrammarNode all = NumberRanges.integers(range.low, range.high);
      if (all == null) {
        throw schema.wrong("there is no such number within reach");
      }
      return all;
    }
    if (range.low != null && range.high != null) {
      return counted(schema, step, range, integer);
    }
    if (range.low == null && range.high == null && isTenth(step) && !integer) {
      return GrammarNode.sequence(
          GrammarNode.optional(GrammarNode.text("-")),
          JsonGrammar.whole(),
          GrammarNode.optional(
              GrammarNode.sequence(
                  GrammarNode.text("."),
                  new GrammarNode.Repeat(
                      JsonGrammar.DIGIT, 1, step.stripTrailingZeros().scale()))));
    }
    throw schema.wrong(
        "multipleOf is supported with a minimum and a maximum, at most %d multiples apart"
            .formatted(COUNTED_MAX));
  }

  /** Whether it is 0.1, 0.01 and so on. */
  private static boolean isTenth(BigDecimal step) {
    BigDecimal plain = step.stripTrailingZeros();
    return plain.unscaledValue().intValue() == 1
        && plain.precision() == 1
        && plain.scale() > 0
        && plain.scale() <= JsonGrammar.DIGITS_MAX;
  }

  private static GrammarNode counted(
      SchemaNode schema, BigDecimal step, Range range, boolean integer) {
    BigDecimal low = range.low.value();
    BigDecimal high = range.high.value();
    BigDecimal first = low.divide(step, 0, RoundingMode.CEILING);
    BigDecimal last = high.divide(step, 0, RoundingMode.FLOOR);
    if (last.subtract(first).compareTo(new BigDecimal(COUNTED_MAX)) > 0) {
      throw schema.wrong(
          "minimum and maximum are more than %d multiples apart".formatted(COUNTED_MAX));
    }
    SortedSet<String> found = new TreeSet<>();
    for (BigDecimal i = first; i.compareTo(last) <= 0; i = i.add(BigDecimal.ONE)) {
      BigDecimal value = i.multiply(step).stripTrailingZeros();
      boolean open =
          range.low.open() && value.compareTo(low) == 0
              || range.high.open() && value.compareTo(high) == 0;
      if (!open && (!integer || value.scale() <= 0)) {
        found.add(value.toPlainString());
      }
    }
    if (found.isEmpty()) {
      throw schema.wrong("there is no multiple between minimum and maximum");
    }
    return oneOf(List.copyOf(found), 0);
  }

  /**
   * One of these texts. Those that begin alike begin once, so that few ways are open at a time.
   *
   * @param texts in order, each once, alike up to {@code from}
   */
  private static GrammarNode oneOf(List<String> texts, int from) {
    String first = texts.getFirst();
    if (texts.size() == 1) {
      return GrammarNode.text(first.substring(from));
    }
    String last = texts.getLast();
    int to = from;
    while (to < first.length() && first.charAt(to) == last.charAt(to)) {
      to++;
    }
    List<GrammarNode> options = new ArrayList<>();
    int at = 0;
    while (at < texts.size()) {
      int begin = at;
      if (first.length() == to && at == 0) {
        at++;
      } else {
        char next = texts.get(at).charAt(to);
        while (at < texts.size() && texts.get(at).charAt(to) == next) {
          at++;
        }
      }
      options.add(oneOf(texts.subList(begin, at), to));
    }
    GrammarNode rest = GrammarNode.choice(options);
    return to == from
        ? rest
        : GrammarNode.sequence(GrammarNode.text(first.substring(from, to)), rest);
  }
}
