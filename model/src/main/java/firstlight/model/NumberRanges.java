package firstlight.model;

import static firstlight.model.GrammarNode.EMPTY;
import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decimal numbers between bounds, written as digits and a point: no exponent, and at most {@link
 * JsonGrammar#DIGITS_MAX} digits before and after the point.
 */
final class NumberRanges {
  private static final BigDecimal MAX = BigDecimal.TEN.pow(JsonGrammar.DIGITS_MAX);
  private static final BigDecimal INTEGER_MAX = MAX.subtract(BigDecimal.ONE);

  private NumberRanges() {}

  /**
   * @param open whether the number itself is left out
   */
  record Bound(BigDecimal value, boolean open) {
    private static final Bound LEAST = new Bound(MAX.negate(), true);
    private static final Bound MOST = new Bound(MAX, true);

    Bound negated() {
      return new Bound(value.negate(), open);
    }
  }

  /** From one integer to another; null: nothing is so small, or so large. */
  static @Nullable GrammarNode integers(@Nullable Bound low, @Nullable Bound high) {
    BigDecimal from = low == null ? INTEGER_MAX.negate() : lowest(low).max(INTEGER_MAX.negate());
    BigDecimal to = high == null ? INTEGER_MAX : lowest(high.negated()).negate().min(INTEGER_MAX);
    List<GrammarNode> options = new ArrayList<>();
    if (to.signum() >= 0) {
      addMagnitudes(options, from.max(BigDecimal.ZERO), to, "");
    }
    if (from.signum() < 0) {
      addMagnitudes(options, to.negate().max(BigDecimal.ONE), from.negate(), "-");
    }
    return options.isEmpty() ? null : GrammarNode.choice(options);
  }

  /** The lowest integer that is not below the bound. */
  private static BigDecimal lowest(Bound bound) {
    BigDecimal lowest = bound.value.setScale(0, RoundingMode.CEILING);
    return bound.open && lowest.compareTo(bound.value) == 0 ? lowest.add(BigDecimal.ONE) : lowest;
  }

  private static void addMagnitudes(
      List<GrammarNode> options, BigDecimal from, BigDecimal to, String sign) {
    if (from.compareTo(to) <= 0) {
      options.add(sequence(text(sign), whole(from.toBigInteger(), to.toBigInteger())));
    }
  }

  /** Integers from one to another, neither negative; lengths apart. */
  private static GrammarNode whole(BigInteger from, BigInteger to) {
    List<GrammarNode> options = new ArrayList<>();
    BigInteger low = from;
    while (low.compareTo(to) <= 0) {
      int length = low.toString().length();
      BigInteger high = BigInteger.TEN.pow(length).subtract(BigInteger.ONE).min(to);
      options.add(digits(low.toString(), high.toString()));
      low = high.add(BigInteger.ONE);
    }
    return GrammarNode.choice(options);
  }

  /** Digits from one to another, of the same length. */
  private static GrammarNode digits(String from, String to) {
    if (from.isEmpty()) {
      return EMPTY;
    }
    int rest = from.length() - 1;
    char low = from.charAt(0);
    char high = to.charAt(0);
    if (low == high) {
      return sequence(digit(low, high), digits(from.substring(1), to.substring(1)));
    }
    boolean allLow = from.substring(1).chars().allMatch(c -> c == '0');
    boolean allHigh = to.substring(1).chars().allMatch(c -> c == '9');
    List<GrammarNode> options = new ArrayList<>();
    if (!allLow) {
      options.add(sequence(digit(low, low), digits(from.substring(1), "9".repeat(rest))));
    }
    char first = allLow ? low : (char) (low + 1);
    char last = allHigh ? high : (char) (high - 1);
    if (first <= last) {
      options.add(sequence(digit(first, last), any(rest, rest)));
    }
    if (!allHigh) {
      options.add(sequence(digit(high, high), digits("0".repeat(rest), to.substring(1))));
    }
    return GrammarNode.choice(options);
  }

  /** Between two numbers; null: nothing is so small, or so large, or there is none between. */
  static @Nullable GrammarNode decimals(@Nullable Bound low, @Nullable Bound high) {
    Bound from = low == null || low.value.compareTo(MAX.negate()) <= 0 ? Bound.LEAST : low;
    Bound to = high == null || high.value.compareTo(MAX) >= 0 ? Bound.MOST : high;
    Bound zero = new Bound(BigDecimal.ZERO, false);
    List<GrammarNode> options = new ArrayList<>();
    addDecimals(options, from.value.signum() < 0 ? zero : from, to, "");
    addDecimals(options, to.value.signum() > 0 ? zero : to.negated(), from.negated(), "-");
    return options.isEmpty() ? null : GrammarNode.choice(options);
  }

  private static void addDecimals(List<GrammarNode> options, Bound from, Bound to, String sign) {
    int order = from.value.compareTo(to.value);
    if (to.value.signum() < 0 || order > 0 || order == 0 && (from.open || to.open)) {
      return;
    }
    BigInteger low = from.value.toBigInteger();
    BigInteger high = to.value.toBigInteger();
    String lowDigits = fraction(from.value);
    String highDigits = fraction(to.value);
    List<GrammarNode> found = new ArrayList<>();
    if (low.equals(high)) {
      add(found, low, between(lowDigits, from.open, highDigits, to.open));
    } else {
      add(found, low, between(lowDigits, from.open, null, false));
      BigInteger next = low.add(BigInteger.ONE);
      BigInteger last = high.subtract(BigInteger.ONE);
      if (next.compareTo(last) <= 0) {
        found.add(sequence(whole(next, last), optional(JsonGrammar.fraction())));
      }
      add(found, high, between("", false, highDigits, to.open));
    }
    if (!found.isEmpty()) {
      options.add(sequence(text(sign), GrammarNode.choice(found)));
    }
  }

  private static void add(
      List<GrammarNode> options, BigInteger whole, @Nullable GrammarNode fraction) {
    if (fraction != null) {
      options.add(sequence(text(whole.toString()), fraction));
    }
  }

  /** The digits after the point, without zeros at the end. */
  private static String fraction(BigDecimal value) {
    BigDecimal rest = value.remainder(BigDecimal.ONE).stripTrailingZeros();
    return rest.signum() == 0 ? "" : rest.toPlainString().substring(2);
  }

  /**
   * A point and digits that are, as a fraction, between these; also none at all where 0 is between.
   *
   * @param high null: up to, but without, 1
   */
  private static @Nullable GrammarNode between(
      String low, boolean lowOpen, @Nullable String high, boolean highOpen) {
    List<GrammarNode> options = new ArrayList<>();
    if (low.isEmpty() && !lowOpen && !(high != null && high.isEmpty() && highOpen)) {
      options.add(EMPTY);
    }
    GrammarNode digits = fractionDigits(low, lowOpen, high, highOpen, JsonGrammar.DIGITS_MAX);
    if (digits != null) {
      options.add(sequence(text("."), digits));
    }
    return options.isEmpty() ? null : GrammarNode.choice(options);
  }

  /**
   * At least one digit of a fraction between these.
   *
   * @param left how many digits there may be
   */
  private static @Nullable GrammarNode fractionDigits(
      String low, boolean lowOpen, @Nullable String high, boolean highOpen, int left) {
    if (left == 0) {
      return null;
    }
    char first = low.isEmpty() ? '0' : low.charAt(0);
    char last = high == null ? '9' : high.isEmpty() ? '0' : high.charAt(0);
    String lowRest = low.isEmpty() ? "" : low.substring(1);
    String highRest = high == null ? null : high.isEmpty() ? "" : high.substring(1);
    List<GrammarNode> options = new ArrayList<>();
    if (first == last) {
      addDigit(options, first, after(lowRest, lowOpen, highRest, highOpen, left - 1));
    } else if (first < last) {
      addDigit(options, first, after(lowRest, lowOpen, null, false, left - 1));
      char free = high == null ? last : (char) (last - 1);
      if (first + 1 <= free) {
        options.add(sequence(digit((char) (first + 1), free), any(0, left - 1)));
      }
      if (high != null) {
        addDigit(options, last, after("", false, highRest, highOpen, left - 1));
      }
    }
    return options.isEmpty() ? null : GrammarNode.choice(options);
  }

  /** What may follow a digit: nothing, where what is there is between already, or more digits. */
  private static @Nullable GrammarNode after(
      String low, boolean lowOpen, @Nullable String high, boolean highOpen, int left) {
    if (low.isEmpty() && !lowOpen && high == null) {
      return any(0, left);
    }
    List<GrammarNode> options = new ArrayList<>();
    if (low.isEmpty() && !lowOpen && !(high != null && high.isEmpty() && highOpen)) {
      options.add(EMPTY);
    }
    GrammarNode more = fractionDigits(low, lowOpen, high, highOpen, left);
    if (more != null) {
      options.add(more);
    }
    return options.isEmpty() ? null : GrammarNode.choice(options);
  }

  private static void addDigit(List<GrammarNode> options, char digit, @Nullable GrammarNode rest) {
    if (rest != null) {
      options.add(sequence(digit(digit, digit), rest));
    }
  }

  private static GrammarNode digit(char from, char to) {
    return new GrammarNode.Character(CharacterSet.range(from, to));
  }

  private static GrammarNode any(int min, int max) {
    return max == 0 ? EMPTY : new GrammarNode.Repeat(JsonGrammar.DIGIT, min, max);
  }
}
