package firstlight.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tokens of a model file: their texts and kinds. */
final class Vocabulary {
  // Kinds of tokens, as the file numbers them.
  static final int NORMAL = 1;
  static final int UNKNOWN = 2;
  static final int CONTROL = 3;
  static final int USER_DEFINED = 4;
  static final int UNUSED = 5;
  static final int BYTE = 6;

  /**
   * What begins and ends calls and reasoning. Where these are control tokens, they stand for their
   * text in answers all the same: a parser could not see them otherwise, nor a constraint ask for
   * them.
   */
  private static final Set<String> MARKERS =
      Set.of(
          "[TOOL_CALLS]",
          "[ARGS]",
          "[CALL_ID]",
          "<|python_tag|>",
          "<tool_call>",
          "</tool_call>",
          "<think>",
          "</think>");

  private final String[] texts;
  private final int[] kinds;
  private final Map<String, Integer> ids;
  private final TextMatcher userDefined = new TextMatcher();
  private final TextMatcher special = new TextMatcher();

  /**
   * @param kinds as many as texts
   */
  Vocabulary(List<String> texts, int[] kinds) {
    this.texts = texts.toArray(String[]::new);
    this.kinds = kinds.clone();
    this.ids = HashMap.newHashMap(this.texts.length);
    for (int id = 0; id < this.texts.length; id++) {
      String text = this.texts[id];
      ids.put(text, id);
      if (kinds[id] == USER_DEFINED) {
        userDefined.add(text, id);
      }
      if (kinds[id] == USER_DEFINED || isControl(id)) {
        special.add(text, id);
      }
    }
  }

  int size() {
    return texts.length;
  }

  String text(int id) {
    checkId(id);
    return texts[id];
  }

  int kind(int id) {
    checkId(id);
    return kinds[id];
  }

  /** Whether it stands for its own text, byte for byte. */
  boolean isItsText(int id) {
    int kind = kind(id);
    return kind == USER_DEFINED || kind == CONTROL && MARKERS.contains(texts[id]);
  }

  /** A token that no plain text becomes; the unknown token is one too. */
  boolean isControl(int id) {
    int kind = kind(id);
    return kind == CONTROL || kind == UNKNOWN;
  }

  /** The id of the token with exactly this text, or -1. */
  int find(String text) {
    return ids.getOrDefault(text, -1);
  }

  /** Finds the tokens that are cut out of any text, before anything else. */
  TextMatcher userDefined() {
    return userDefined;
  }

  /** Finds these and the control tokens. */
  TextMatcher special() {
    return special;
  }

  private void checkId(int id) {
    if (id < 0 || id >= texts.length) {
      throw new IllegalArgumentException(
          "token id %d is outside the vocabulary 0..%d".formatted(id, texts.length - 1));
    }
  }
}
