package firstlight.model;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * SentencePiece: the characters of a text are joined to the tokens of the highest scores. A blank
 * is written as U+2581; a character that no token holds becomes one token for each of its bytes.
 *
 * <p>A U+2581 in the text itself counts as a blank too, as for other implementations; it is the one
 * character that the ids do not decode to.
 */
final class SentencePieceTokenizer extends VocabularyTokenizer {
  private static final char BLANK = '\u2581';

  private final float[] scores;
  private final boolean addSpacePrefix;
  private final int[] byteIds = new int[256];
  private final int longest;
  private final int unknown;

  /**
   * @param scores one for each token
   * @param addSpacePrefix whether a text is encoded as if a blank stood before it
   * @param unknown what stands for a byte without a token, or -1
   */
  SentencePieceTokenizer(
      Vocabulary vocabulary,
      SpecialTokens specials,
      float[] scores,
      boolean addSpacePrefix,
      int unknown) {
    super(vocabulary, specials);
    this.scores = scores.clone();
    this.addSpacePrefix = addSpacePrefix;
    this.unknown = unknown;
    for (int b = 0; b < 256; b++) {
      byteIds[b] = vocabulary.find(String.format(Locale.ROOT, "<0x%02X>", b));
    }
    int longestSoFar = 0;
    for (int id = 0; id < vocabulary.size(); id++) {
      longestSoFar = Math.max(longestSoFar, vocabulary.text(id).length());
    }
    longest = longestSoFar;
  }

  @Override
  void encodePiece(String piece, Ids ids) {
    String prefixed = addSpacePrefix ? " " + piece : piece;
    String text = prefixed.replace(' ', BLANK);
    Merger merger = new Merger(text.length(), (_, _, from, to) -> join(text, from, to));
    for (int from = 0; from < text.length(); ) {
      int to = from + Character.charCount(text.codePointAt(from));
      merger.add(find(text, from, to), to);
      from = to;
    }
    merger.merge(
        (id, from, to) -> {
          if (id >= 0) {
            ids.add(id);
          } else {
            addBytes(prefixed.substring(from, to), ids);
          }
        });
  }

  private long join(String text, int from, int to) {
    int id = find(text, from, to);
    return id < 0 ? Merger.NONE : Merger.joined(priority(scores[id]), id);
  }

  /** Only normal tokens are made of text: a text that spells a control token is not that token. */
  private int find(String text, int from, int to) {
    int id = to - from > longest ? -1 : vocabulary().find(text.substring(from, to));
    return id >= 0 && vocabulary().kind(id) == Vocabulary.NORMAL ? id : -1;
  }

  /** Orders as the score does, the highest first. */
  private static int priority(float score) {
    int bits = Float.floatToIntBits(score);
    return ~(bits >= 0 ? bits : bits ^ Integer.MAX_VALUE);
  }

  private void addBytes(String character, Ids ids) {
    for (byte b : character.getBytes(StandardCharsets.UTF_8)) {
      int id = byteIds[b & 0xFF] >= 0 ? byteIds[b & 0xFF] : unknown;
      if (id >= 0) {
        ids.add(id);
      }
    }
  }

  @Override
  byte[] normalBytes(int id) {
    return vocabulary().text(id).replace(BLANK, ' ').getBytes(StandardCharsets.UTF_8);
  }
}
