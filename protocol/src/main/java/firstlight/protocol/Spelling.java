package firstlight.protocol;

import java.util.Collection;

/** Finds the word somebody may have meant. */
public final class Spelling {
  private Spelling() {}

  /** The word with the fewest edits from the wrong one, or empty when none is near. */
  public static String nearest(String wrong, Collection<String> words) {
    String best = "";
    int bestEdits = Math.max(2, wrong.length() / 3) + 1;
    for (String word : words) {
      int edits = edits(wrong, word);
      if (edits < bestEdits) {
        best = word;
        bestEdits = edits;
      }
    }
    return best;
  }

  /** Levenshtein's distance. */
  private static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
