package firstlight.batcher;

import firstlight.protocol.FinishReason;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which token is a generation's last, and which bytes of text may go out.
 *
 * <p>Stop strings are looked for byte by byte, so it does not matter how the text is cut into
 * tokens. The one that is complete first ends the generation; of those complete at the same byte,
 * the longest. As long as the last bytes may be the beginning of a stop string they are held back:
 * nothing of a stop string ever goes out, and all before it does.
 */
final class StopRule {
  private static final byte[] NOTHING = {};

  /**
   * What one token means.
   *
   * @param text bytes that may go out now
   * @param end why the generation ends with this token, or null: it goes on
   * @param stop the stop string that ended it, or empty
   */
  record Verdict(byte[] text, @Nullable FinishReason end, byte[] stop) {}

  private final byte[][] stops;
  private final int[][] borders;
  private final int[] matched;
  private final int[] endTokens;
  private byte[] held = NOTHING;

  /**
   * @param stops stop strings as bytes, none of them empty
   * @param endTokens ids that end the generation and are not part of its text
   */
  StopRule(List<byte[]> stops, int[] endTokens) {
    this.stops = stops.toArray(byte[][]::new);
    this.borders = stops.stream().map(StopRule::borders).toArray(int[][]::new);
    this.matched = new int[this.stops.length];
    this.endTokens = endTokens.clone();
    Arrays.sort(this.endTokens);
  }

  /**
   * The next token.
   *
   * @param bytes its bytes of text
   * @param last why it ends with this token at the latest; null: more may come
   */
  Verdict next(int token, byte[] bytes, @Nullable FinishReason last) {
    if (Arrays.binarySearch(endTokens, token) >= 0) {
      return new Verdict(flush(), FinishReason.END, NOTHING);
    }
    for (int i = 0; i < bytes.length; i++) {
      int stop = advance(bytes[i]);
      if (stop >= 0) {
        byte[] all = join(held, bytes, i + 1);
        held = NOTHING;
        byte[] text = Arrays.copyOf(all, all.length - stops[stop].length);
        return new Verdict(text, FinishReason.STOP, stops[stop]);
      }
    }
    byte[] all = join(held, bytes, bytes.length);
    if (last != null) {
      held = NOTHING;
      return new Verdict(all, last, NOTHING);
    }
    int free = all.length - Arrays.stream(matched).max().orElse(0);
    held = Arrays.copyOfRange(all, free, all.length);
    return new Verdict(Arrays.copyOf(all, free), null, NOTHING);
  }

  private byte[] flush() {
    byte[] text = held;
    held = NOTHING;
    return text;
  }

  /** One byte on in every stop string; the longest one that is complete with it, or -1. */
  private int advance(byte next) {
    int complete = -1;
    for (int s = 0; s < stops.length; s++) {
      byte[] stop = stops[s];
      int length = matched[s];
      while (length > 0 && stop[length] != next) {
        length = borders[s][length - 1];
      }
      if (stop[length] == next) {
        length++;
      }
      matched[s] = length;
      if (length == stop.length && (complete < 0 || length > stops[complete].length)) {
        complete = s;
      }
    }
    return complete;
  }

  /** Knuth, Morris and Pratt: the longest proper prefix that is also a suffix, for each prefix. */
  private static int[] borders(byte[] stop) {
    int[] borders = new int[stop.length];
    int length = 0;
    for (int i = 1; i < stop.length; i++) {
      while (length > 0 && stop[i] != stop[length]) {
        length = borders[length - 1];
      }
      if (stop[i] == stop[length]) {
        length++;
      }
      borders[i] = length;
    }
    return borders;
  }

  private static byte[] join(byte[] first, byte[] second, int secondLength) {
    if (first.length == 0 && secondLength == second.length) {
      return second;
    }
    ByteArrayOutputStream joined = new ByteArrayOutputStream(first.length + secondLength);
    joined.write(first, 0, first.length);
    joined.write(second, 0, secondLength);
    return joined.toByteArray();
  }
}
