package firstlight.model;

import org.jspecify.annotations.Nullable;

/**
 * Finds the texts of a set of tokens in a longer text: the leftmost, and of those the longest, as
 * Hugging Face's tokenizers do. Takes time proportional to the text, whatever the number of tokens.
 */
final class TextMatcher {
  private static final int ROOT = 0;

  // A trie: (node, char) leads to a node; a node may end a token.
  private final LongTable edges = new LongTable(1024);
  private final LongTable tokens = new LongTable(1024);
  private int nodes = 1;

  /**
   * @param start index of the match's first char
   * @param end index behind its last char
   */
  record Match(int start, int end, int id) {}

  /**
   * Adds a token's text; an empty one is never found. Of two tokens of one text the first counts.
   */
  void add(String text, int id) {
    int node = ROOT;
    for (int i = 0; i < text.length(); i++) {
      int next = edges.putIfAbsent(edge(node, text.charAt(i)), nodes);
      nodes = Math.max(nodes, next + 1);
      node = next;
    }
    if (node != ROOT) {
      tokens.putIfAbsent(node, id);
    }
  }

  @Nullable Match find(String text, int from) {
    for (int start = from; start < text.length(); start++) {
      Match match = longestAt(text, start);
      if (match != null) {
        return match;
      }
    }
    return null;
  }

  /** Whether one of the texts stands at this place. */
  boolean startsAt(String text, int start) {
    return longestAt(text, start) != null;
  }

  /** Whether the rest of the text, all of it, is the beginning of one of the texts. */
  boolean isBegunBy(String text, int from) {
    int node = ROOT;
    for (int i = from; i < text.length() && node != LongTable.NONE; i++) {
      node = edges.get(edge(node, text.charAt(i)));
    }
    return node != LongTable.NONE;
  }

  private @Nullable Match longestAt(String text, int start) {
    Match longest = null;
    int node = ROOT;
    for (int i = start; i < text.length(); i++) {
      node = edges.get(edge(node, text.charAt(i)));
      if (node == LongTable.NONE) {
        break;
      }
      int id = tokens.get(node);
      if (id != LongTable.NONE) {
        longest = new Match(start, i + 1, id);
      }
    }
    return longest;
  }

  private static long edge(int node, char c) {
    return ((long) node << 16) | c;
  }
}
