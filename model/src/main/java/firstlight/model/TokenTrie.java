package firstlight.model;

import java.util.Arrays;
import java.util.Comparator;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The tokens of a vocabulary by their bytes: nodes in the order of a walk in depth, so that to
 * leave a branch out is to go on at its end. Tokens without bytes are not in it. Immutable.
 */
public final class TokenTrie {
  private final int vocabulary;

  /** Ids by their bytes. */
  private final int[] sorted;

  private byte[] labels;
  private int[] depths;
  private int[] ends;

  /** Index into {@link #sorted} of a node's first token; those of the node itself come first. */
  private int[] firsts;

  private int nodes;
  private int depthMax;

  private TokenTrie(byte[][] tokens) {
    this.vocabulary = tokens.length;
    this.sorted =
        IntStream.range(0, tokens.length)
            .filter(id -> tokens[id].length > 0)
            .boxed()
            .sorted(Comparator.comparing((Integer id) -> tokens[id], Arrays::compareUnsigned))
            .mapToInt(Integer::intValue)
            .toArray();
    int room = Math.max(16, sorted.length * 2);
    this.labels = new byte[room];
    this.depths = new int[room];
    this.firsts = new int[room];
    addAll(tokens);
    this.labels = Arrays.copyOf(labels, nodes);
    this.depths = Arrays.copyOf(depths, nodes);
    this.firsts = Arrays.copyOf(firsts, nodes + 1);
    this.firsts[nodes] = sorted.length;
    this.ends = findEnds();
  }

  /**
   * The tokens of a model.
   *
   * @param bytes of each id's text; none for tokens without text
   */
  public static TokenTrie of(int vocabulary, IntFunction<byte[]> bytes) {
    return new TokenTrie(IntStream.range(0, vocabulary).mapToObj(bytes).toArray(byte[][]::new));
  }

  /** Number of ids, those without bytes included. */
  int vocabulary() {
    return vocabulary;
  }

  int nodes() {
    return nodes;
  }

  int label(int node) {
    return Byte.toUnsignedInt(labels[node]);
  }

  /** Bytes from the beginning to this node, at least 1. */
  int depth(int node) {
    return depths[node];
  }

  int depthMax() {
    return depthMax;
  }

  /** The first node that is not below this one. */
  int end(int node) {
    return ends[node];
  }

  /** Sets the bits of the tokens that end at a node. */
  void mark(int node, long[] mask) {
    for (int i = firsts[node]; i < firsts[node + 1]; i++) {
      mask[sorted[i] >> 6] |= 1L << sorted[i];
    }
  }

  private void addAll(byte[][] tokens) {
    byte[] before = {};
    for (int i = 0; i < sorted.length; i++) {
      byte[] token = tokens[sorted[i]];
      int same = Arrays.mismatch(before, token);
      for (int at = same < 0 ? token.length : same; at < token.length; at++) {
        add(token[at], at + 1, i);
      }
      depthMax = Math.max(depthMax, token.length);
      before = token;
    }
  }

  private void add(byte label, int depth, int first) {
    if (nodes + 1 >= labels.length) {
      labels = Arrays.copyOf(labels, nodes * 2);
      depths = Arrays.copyOf(depths, nodes * 2);
      firsts = Arrays.copyOf(firsts, nodes * 2);
    }
    labels[nodes] = label;
    depths[nodes] = depth;
    firsts[nodes] = first;
    nodes++;
  }

  private int[] findEnds() {
    int[] found = new int[nodes];
    int[] open = new int[depthMax + 2];
    for (int node = nodes - 1; node >= 0; node--) {
      // The next node at most as deep as this one, seen from the end.
      int end = nodes;
      for (int depth = 1; depth <= depths[node]; depth++) {
        end = open[depth] > 0 ? Math.min(end, open[depth]) : end;
      }
      found[node] = end;
      open[depths[node]] = node;
    }
    return found;
  }
}
