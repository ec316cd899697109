package firstlight.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tokens of a model file: their texts and kinds. */
final class Vocabulary {
  // Kinds of tokens, as the file numbers them.
  static final int NORMAL = 1;
  static final int UNKNOWN = 2;
  static final int CONTROL = 3;
  static final int USER_DEFINED = 4;
  static final int UNUSED = 5;
  static final int BYTE = 6;

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

  /** A token that stands for no text; the unknown token is one too. */
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
