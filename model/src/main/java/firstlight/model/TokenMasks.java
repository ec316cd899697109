package firstlight.model;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which tokens may come next. What a token may be does not depend on where its rule goes back to,
 * as long as it does not leave the rule: so for each state of the automaton the vocabulary is gone
 * through once, and the nodes at which the rule may be left are noted. Only below these the
 * surrounding rules are asked, which is little. (XGrammar, arXiv:2411.15100, has the idea of masks
 * that do not depend on the stack.) One thread's own.
 */
final class TokenMasks {
  private static final int[] NONE = {};

  /** With no more of these, a mask is made again as fast as it is kept. */
  private static final int EXITS_CHEAP = 64;

  private final Matcher matcher;
  private final TokenTrie trie;
  private final long bytesMax;
  private final Map<Integer, Local> locals = new HashMap<>();
  private final Map<MatchState, long[]> masks = new HashMap<>();
  private final MatchState[] path;
  private long bytes;

  /**
   * Of one state of the automaton.
   *
   * @param words where the mask of the tokens that fit into the rule is not 0
   * @param bits and what it is there
   * @param exits nodes of the trie after which the rule may be left
   */
  private record Local(int[] words, long[] bits, int[] exits) {
    static Local of(long[] mask, int[] exits) {
      int[] words = IntStream.range(0, mask.length).filter(i -> mask[i] != 0).toArray();
      return new Local(words, Arrays.stream(words).mapToLong(i -> mask[i]).toArray(), exits);
    }

    void addTo(long[] mask) {
      for (int i = 0; i < words.length; i++) {
        mask[words[i]] |= bits[i];
      }
    }

    long bytes() {
      return 12L * words.length + 4L * exits.length;
    }
  }

  /** Room for growing. */
  private static final class Exits {
    private int[] nodes = NONE;
    private int size;

    void add(int node) {
      if (size == nodes.length) {
        nodes = Arrays.copyOf(nodes, Math.max(8, size * 2));
      }
      nodes[size++] = node;
    }

    int[] all() {
      return Arrays.copyOf(nodes, size);
    }
  }

  /**
   * @param bytesMax for what is remembered; then it begins anew
   */
  TokenMasks(Matcher matcher, TokenTrie trie, long bytesMax) {
    this.matcher = matcher;
    this.trie = trie;
    this.bytesMax = bytesMax;
    this.path = new MatchState[trie.depthMax() + 1];
  }

  /** A bit for each id, in words of 64; nobody changes it. */
  long[] mask(MatchState state) {
    long[] known = masks.get(state);
    if (known != null) {
      return known;
    }
    long[] mask = new long[words()];
    boolean dear = false;
    for (MatchState.Way way : state.ways()) {
      Local local = local(way.state());
      add(way, local, mask);
      dear |= local.exits.length > EXITS_CHEAP;
    }
    if (dear) {
      remember(8L * mask.length);
      masks.put(state, mask);
    }
    return mask;
  }

  private void add(MatchState.Way way, Local local, long[] mask) {
    local.addTo(mask);
    MatchState.Frame frame = way.frame();
    if (frame != null && local.exits.length > 0) {
      MatchState outside = matcher.at(frame.returnTo, frame.outer);
      for (int exit : local.exits) {
        walk(outside, exit + 1, trie.end(exit), mask, null);
      }
    }
  }

  private Local local(int state) {
    Local known = locals.get(state);
    if (known != null) {
      return known;
    }
    long[] mask = new long[words()];
    Exits exits = new Exits();
    walk(matcher.at(state, null), 0, trie.nodes(), mask, exits);
    Local local = Local.of(mask, exits.all());
    remember(local.bytes());
    locals.put(state, local);
    return local;
  }

  /** Follows the nodes from one to another, which are branches of one node that is at a state. */
  private void walk(MatchState state, int from, int to, long[] mask, @Nullable Exits exits) {
    if (from >= to) {
      return;
    }
    int base = trie.depth(from) - 1;
    path[base] = state;
    int node = from;
    while (node < to) {
      int depth = trie.depth(node);
      MatchState next = matcher.next(path[depth - 1], trie.label(node));
      if (next.isDead()) {
        node = trie.end(node);
        continue;
      }
      path[depth] = next;
      trie.mark(node, mask);
      if (exits != null && next.isComplete()) {
        exits.add(node);
      }
      node++;
    }
  }

  private int words() {
    return (trie.vocabulary() + 63) / 64;
  }

  private void remember(long more) {
    bytes += more;
    if (bytes > bytesMax) {
      locals.clear();
      masks.clear();
      bytes = more;
    }
  }
}
