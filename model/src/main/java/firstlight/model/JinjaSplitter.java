package firstlight.model;

import java.util.ArrayList;
import java.util.List;

/** Python's split and rsplit; a negative limit is none. */
final class JinjaSplitter {
  private JinjaSplitter() {}

  static List<Object> at(String text, String separator, int limit, boolean fromRight) {
    if (separator.isEmpty()) {
      throw JinjaValues.failure("a text cannot be split at nothing");
    }
    List<Object> parts = new ArrayList<>();
    int from = 0;
    int to = text.length();
    while (limit < 0 || parts.size() < limit) {
      int at =
          fromRight
              ? text.lastIndexOf(separator, to - separator.length())
              : text.indexOf(separator, from);
      if (at < from || at + separator.length() > to) {
        break;
      }
      if (fromRight) {
        parts.add(text.substring(at + separator.length(), to));
        to = at;
      } else {
        parts.add(text.substring(from, at));
        from = at + separator.length();
      }
    }
    parts.add(text.substring(from, to));
    return fromRight ? parts.reversed() : parts;
  }

  static List<Object> atBlanks(String text, int limit, boolean fromRight) {
    List<Object> parts = new ArrayList<>();
    int from = 0;
    int to = text.length();
    while (true) {
      from = ahead(text, from, to, true);
      to = back(text, from, to, true);
      if (from == to) {
        break;
      }
      boolean last = limit >= 0 && parts.size() >= limit;
      int wordFrom = last || !fromRight ? from : back(text, from, to, false);
      int wordTo = last || fromRight ? to : ahead(text, from, to, false);
      parts.add(text.substring(wordFrom, wordTo));
      from = fromRight && !last ? from : wordTo;
      to = fromRight && !last ? wordFrom : to;
    }
    return fromRight ? parts.reversed() : parts;
  }

  private static int ahead(String text, int from, int to, boolean overBlanks) {
    int at = from;
    while (at < to && Character.isWhitespace(text.charAt(at)) == overBlanks) {
      at++;
    }
    return at;
  }

  private static int back(String text, int from, int to, boolean overBlanks) {
    int at = to;
    while (at > from && Character.isWhitespace(text.charAt(at - 1)) == overBlanks) {
      at--;
    }
    return at;
  }
}
