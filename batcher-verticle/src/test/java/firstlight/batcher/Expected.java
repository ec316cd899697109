package firstlight.batcher;

import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What a generation must give, worked out the simple way: all tokens first, then the text is
 * searched as a whole after each of them.
 *
 * @param tokens the output from its beginning, known tokens included
 * @param text all of it that may go out
 * @param knownText the part of it that went out with the known tokens
 */
record Expected(
    List<Integer> tokens, FinishReason reason, String text, String knownText, String stop) {

  static Expected of(GenerationSpec spec) {
    return of(spec, spec.outputMax());
  }

  /**
   * @param outputMax where there is less room than the spec asks for
   */
  static Expected of(GenerationSpec spec, int outputMax) {
    List<Integer> alone = Specs.alone(spec);
    List<Integer> all = alone.subList(0, Math.min(alone.size(), outputMax));
    FinishReason last = Specs.isOver(spec, all) ? FinishReason.END : FinishReason.LENGTH;
    List<String> stops = spec.stop().stream().map(Expected::latin).toList();
    StringBuilder text = new StringBuilder();
    String knownText = "";
    for (int i = 0; i < all.size(); i++) {
      int token = all.get(i);
      List<Integer> tokens = all.subList(0, i + 1);
      if (java.util.Arrays.stream(spec.stopTokens()).anyMatch(end -> end == token)) {
        return new Expected(tokens, FinishReason.END, text.toString(), knownText, "");
      }
      text.append(latin(Specs.bytes(token)));
      String stop = firstComplete(text, stops);
      if (!stop.isEmpty()) {
        String before = text.substring(0, endOfFirst(text, stop) - stop.length());
        return new Expected(tokens, FinishReason.STOP, before, knownText, stop);
      }
      if (i + 1 == spec.known().length) {
        knownText = text.substring(0, text.length() - beginning(text, stops));
      }
    }
    return new Expected(all, last, text.toString(), knownText, "");
  }

  private static String firstComplete(StringBuilder text, List<String> stops) {
    String best = "";
    for (String stop : stops) {
      int end = endOfFirst(text, stop);
      int bestEnd = best.isEmpty() ? Integer.MAX_VALUE : endOfFirst(text, best);
      if (end < bestEnd || (end == bestEnd && stop.length() > best.length())) {
        best = end == Integer.MAX_VALUE ? best : stop;
      }
    }
    return best;
  }

  private static int endOfFirst(StringBuilder text, String stop) {
    int at = text.indexOf(stop);
    return at < 0 ? Integer.MAX_VALUE : at + stop.length();
  }

  /** Length of the longest end of the text that a stop string begins with. */
  private static int beginning(StringBuilder text, List<String> stops) {
    int longest = 0;
    for (String stop : stops) {
      for (int length = 1; length < stop.length() && length <= text.length(); length++) {
        if (text.toString().endsWith(stop.substring(0, length))) {
          longest = Math.max(longest, length);
        }
      }
    }
    return longest;
  }

  static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
