package firstlight.model;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Writes texts of a grammar at random, as a model does that is held to it. */
final class RandomWalk {
  private static final String CLOSING = "\"}])>`";
  private static final int LONG = 300;
  private static final int BYTES_MAX = 20_000;

  private final Matcher matcher;
  private final MatchState start;
  private final Random random;
  private final List<byte[]> liked;
  private byte[] word = {};
  private int inWord;

  /**
   * @param liked what is begun more often than chance has it
   */
  RandomWalk(Grammar grammar, Random random, List<String> liked) {
    AutomatonBuilder builder = new AutomatonBuilder(grammar);
    matcher = new Matcher(builder.automaton());
    start = matcher.start(builder.rule(Grammar.ROOT));
    this.random = random;
    this.liked = liked.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
  }

  String text() {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    MatchState state = start;
    while (!state.isComplete() || !state.ways().isEmpty() && random.nextInt(20) > 0) {
      if (state.isComplete() && text.size() > LONG) {
        break;
      }
      if (text.size() > BYTES_MAX) {
        throw new AssertionError("it does not come to an end");
      }
      int value = next(state, text.size());
      text.write(value);
      state = matcher.next(state, value);
    }
    return text.toString(StandardCharsets.UTF_8);
  }

  private int next(MatchState state, int length) {
    List<Integer> open = new ArrayList<>();
    for (int value = 0; value < 256; value++) {
      if (!matcher.next(state, value).isDead()) {
        open.add(value);
      }
    }
    List<Integer> closing = open.stream().filter(value -> CLOSING.indexOf(value) >= 0).toList();
    boolean close = inWord == word.length && (length > LONG || random.nextInt(4) == 0);
    if (!closing.isEmpty() && close && random.nextInt(4) > 0) {
      return closing.get(random.nextInt(closing.size()));
    }
    if (inWord == word.length && random.nextInt(4) == 0) {
      word = liked.get(random.nextInt(liked.size()));
      inWord = 0;
    }
    if (inWord < word.length) {
      int value = Byte.toUnsignedInt(word[inWord++]);
      if (open.contains(value)) {
        return value;
      }
      inWord = word.length;
    }
    return open.get(random.nextInt(open.size()));
  }
}
