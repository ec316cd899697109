package firstlight.model;

import org.jspecify.annotations.Nullable;

/** Reads a number of JSON, character by character. */
final class NumberScanner {
  private At at = At.SIGN;

  private enum At {
    SIGN,
    ZERO,
    WHOLE,
    POINT,
    FRACTION,
    EXPONENT,
    EXPONENT_SIGN,
    EXPONENT_DIGITS
  }

  /** Begins anew; whether a number may begin so. */
  boolean begins(char c) {
    at = c == '-' ? At.SIGN : c == '0' ? At.ZERO : At.WHOLE;
    return c == '-' || isDigit(c);
  }

  /** Whether it may go on so. */
  boolean next(char c) {
    At then =
        switch (at) {
          case SIGN -> c == '0' ? At.ZERO : digit(c, At.WHOLE);
          case ZERO -> pointOrExponent(c, null);
          case WHOLE -> pointOrExponent(c, At.WHOLE);
          case POINT -> digit(c, At.FRACTION);
          case FRACTION -> isExponent(c) ? At.EXPONENT : digit(c, At.FRACTION);
          case EXPONENT -> c == '+' || c == '-' ? At.EXPONENT_SIGN : digit(c, At.EXPONENT_DIGITS);
          case EXPONENT_SIGN, EXPONENT_DIGITS -> digit(c, At.EXPONENT_DIGITS);
        };
    if (then != null) {
      at = then;
    }
    return then != null;
  }

  /** Whether it may end here. */
  boolean isComplete() {
    return at == At.ZERO || at == At.WHOLE || at == At.FRACTION || at == At.EXPONENT_DIGITS;
  }

  private static @Nullable At pointOrExponent(char c, @Nullable At digits) {
    if (c == '.') {
      return At.POINT;
    }
    return isExponent(c) ? At.EXPONENT : digits == null ? null : digit(c, digits);
  }

  private static @Nullable At digit(char c, At then) {
    return isDigit(c) ? then : null;
  }

  private static boolean isExponent(char c) {
    return c == 'e' || c == 'E';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
