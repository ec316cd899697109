package firstlight.model;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
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
    List<GrammarNode> found = new ArrayList<>();
    for (BigDecimal i = first; i.compareTo(last) <= 0; i = i.add(BigDecimal.ONE)) {
      BigDecimal value = i.multiply(step).stripTrailingZeros();
      boolean open =
          range.low.open() && value.compareTo(low) == 0
              || range.high.open() && value.compareTo(high) == 0;
      if (!open && (!integer || value.scale() <= 0)) {
        found.add(GrammarNode.text(value.toPlainString()));
      }
    }
    if (found.isEmpty()) {
      throw schema.wrong("there is no multiple between minimum and maximum");
    }
    return GrammarNode.choice(found);
  }
}
