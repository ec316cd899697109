package firstlight.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps text of a conversation from becoming control tokens. Before a template sees a text, a
 * noncharacter that occurs nowhere in the input (the guard) is set into every stretch that spells a
 * control token, and where an end of the text could complete one together with what the template
 * puts beside it. After the rendered text was cut at control tokens the guards are taken out again.
 */
final class ControlGuard {
  private static final char FIRST = '\uFDD0';
  private static final char LAST = '\uFDEF';
  private static final int DEPTH_MAX = 64;

  private final List<String> controls;
  private final TextMatcher forward = new TextMatcher();
  private final TextMatcher backward = new TextMatcher();
  private final int longest;

  /**
   * @param controls texts of control tokens, each of at least two chars
   */
  ControlGuard(List<String> controls) {
    this.controls = List.copyOf(controls);
    for (String control : controls) {
      forward.add(control, 0);
      backward.add(new StringBuilder(control).reverse().toString(), 0);
    }
    longest = controls.stream().mapToInt(String::length).max().orElse(0);
  }

  static boolean isGuard(char c) {
    return c >= FIRST && c <= LAST;
  }

  /** The texts of one conversation: sees all of them first, then guards them. */
  final class Input {
    private final BitSet used = new BitSet();
    private long chars;

    /** Takes note of the chars of a text, or of the texts in a value. */
    void note(@Nullable Object value) {
      note(value, 0);
    }

    private void note(@Nullable Object value, int depth) {
      checkDepth(depth);
      switch (value) {
        case String text -> {
          chars += text.length();
          text.chars().filter(c -> isGuard((char) c)).forEach(used::set);
        }
        case List<?> list -> list.forEach(element -> note(element, depth + 1));
        case Map<?, ?> map ->
            map.forEach(
                (key, element) -> {
                  note(key, depth + 1);
                  note(element, depth + 1);
                });
        case null, default -> {}
      }
    }

    /** How many chars there are in all. */
    long chars() {
      return chars;
    }

    /** The guard for these texts. */
    char guard() {
      int guard = used.nextClearBit(FIRST);
      if (guard > LAST) {
        throw new TemplateException("the text holds every noncharacter U+FDD0 to U+FDEF");
      }
      return (char) guard;
    }
  }

  private static void checkDepth(int depth) {
    if (depth > DEPTH_MAX) {
      throw new TemplateException("a value is nested deeper than %d".formatted(DEPTH_MAX));
    }
  }

  /** The value as a template may have it, with guards in all its texts. */
  @Nullable Object guarded(@Nullable Object value, char guard) {
    return switch (value) {
      case null -> null;
      case Boolean flag -> flag;
      case String text -> guarded(text, guard, false);
      case Number number -> number(number);
      case List<?> list -> {
        List<@Nullable Object> copy = new ArrayList<>();
        list.forEach(element -> copy.add(guarded(element, guard)));
        yield copy;
      }
      case Map<?, ?> map -> {
        Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
        map.forEach(
            (key, element) ->
                copy.put(guarded(String.valueOf(key), guard, false), guarded(element, guard)));
        yield copy;
      }
      default -> throw new TemplateException("a template takes only what JSON can say");
    };
  }

  private static Object number(Number number) {
    return switch (number) {
      case Long _, Integer _, Short _, Byte _ -> number.longValue();
      case BigInteger big when big.bitLength() < Long.SIZE -> big.longValueExact();
      case BigDecimal _, BigInteger _, Double _, Float _ -> number.doubleValue();
      default -> throw new TemplateException("a template takes only what JSON can say");
    };
  }

  /**
   * @param content what a person or model wrote, as opposed to names and kinds, which a template
   *     may compare with its own: guarded even where it is only the middle of a control token
   */
  String guarded(String text, char guard, boolean content) {
    BitSet places = new BitSet();
    for (int i = 0; i < text.length(); i++) {
      boolean nearEnd = text.length() - i < longest;
      if (forward.startsAt(text, i) || (nearEnd && forward.isBegunBy(text, i))) {
        places.set(i + 1);
      }
    }
    if (!text.isEmpty() && (endsControl(text) || (content && isInsideControl(text)))) {
      places.set(0);
    }
    if (places.isEmpty()) {
      return text;
    }
    StringBuilder guarded = new StringBuilder(text.length() + places.cardinality());
    for (int i = 0; i <= text.length(); i++) {
      if (places.get(i)) {
        guarded.append(guard);
      }
      if (i < text.length()) {
        guarded.append(text.charAt(i));
      }
    }
    return guarded.toString();
  }

  /** Whether the text begins with what a control token ends with. */
  private boolean endsControl(String text) {
    for (int length = 1; length < Math.min(longest, text.length() + 1); length++) {
      String head = new StringBuilder(text.substring(0, length)).reverse().toString();
      if (backward.isBegunBy(head, 0)) {
        return true;
      }
    }
    return false;
  }

  private boolean isInsideControl(String text) {
    return text.length() < longest && controls.stream().anyMatch(one -> one.contains(text));
  }
}
