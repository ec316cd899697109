package firstlight.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The words of a line: the first ones are taken in their order, options in any. */
final class Words {
  private final List<String> words;

  Words(List<String> words) {
    this.words = new ArrayList<>(words);
  }

  boolean more() {
    return !words.isEmpty();
  }

  String take() {
    if (!more()) {
      throw new IllegalArgumentException("the line ends where a word is missing");
    }
    return words.removeFirst();
  }

  /** Takes the word if it comes next. */
  boolean take(String word) {
    if (more() && words.getFirst().equals(word)) {
      words.removeFirst();
      return true;
    }
    return false;
  }

  /** Words of the language that must stand here. */
  void want(String... phrase) {
    for (String word : phrase) {
      if (!take(word)) {
        throw new IllegalArgumentException(
            "\"%s\" is missing before \"%s\"".formatted(word, more() ? words.getFirst() : ""));
      }
    }
  }

  int number() {
    return Integer.parseInt(take());
  }

  /** Takes an option without a value, wherever it stands. */
  boolean flag(String name) {
    return words.remove(name);
  }

  /** Takes the value of an option, wherever it stands. */
  String option(String name, String fallback) {
    int at = words.indexOf(name);
    if (at < 0) {
      return fallback;
    }
    words.remove(at);
    if (at == words.size()) {
      throw new IllegalArgumentException("\"%s\" needs a value".formatted(name));
    }
    return words.remove(at);
  }

  int option(String name, int fallback) {
    return Integer.parseInt(option(name, String.valueOf(fallback)));
  }

  /** E.g. 2s or 300ms. */
  static Duration span(String word) {
    return word.endsWith("ms")
        ? Duration.ofMillis(Long.parseLong(word.substring(0, word.length() - 2)))
        : Duration.ofSeconds(Long.parseLong(word.substring(0, word.length() - 1)));
  }

  /** Nothing may be left over. */
  void end() {
    if (more()) {
      throw new IllegalArgumentException("\"%s\" is not understood".formatted(words.getFirst()));
    }
  }
}
