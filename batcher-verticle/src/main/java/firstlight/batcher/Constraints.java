package firstlight.batcher;

import firstlight.model.Constraint;
import firstlight.model.Grammar;
import firstlight.model.InvalidGrammar;
import firstlight.model.TokenTrie;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The constraints that a replica has compiled lately, by their text. Only {@link #compile} may be
 * called on any thread; the rest, and what it gives out, belongs to the replica's.
 */
final class Constraints {
  private static final int KEPT_MAX = 64;

  /** For the masks of one constraint, in bytes. */
  private static final long MASK_BYTES_MAX = 16 << 20;

  private final int vocabulary;
  private final IntFunction<byte[]> tokenBytes;
  private final Map<String, Constraint> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Constraint> eldest) {
          return size() > KEPT_MAX;
        }
      };

  private @Nullable TokenTrie trie;

  /**
   * @param tokenBytes the bytes of a token's text; none for control tokens
   */
  Constraints(int vocabulary, IntFunction<byte[]> tokenBytes) {
    this.vocabulary = vocabulary;
    this.tokenBytes = tokenBytes;
  }

  /** One that was compiled before; null: it was not, or too long ago. */
  @Nullable Constraint find(String grammar) {
    return kept.get(grammar);
  }

  void keep(String grammar, Constraint constraint) {
    kept.put(grammar, constraint);
  }

  /**
   * Takes long for a large grammar, and the first time.
   *
   * @throws MeshException of kind INVALID_REQUEST: it is no grammar, or too large
   */
  Constraint compile(String grammar) {
    try {
      Constraint constraint =
          Constraint.compile(Grammar.parse(grammar), trie(), tokenBytes, MASK_BYTES_MAX);
      // The first mask goes through the whole vocabulary.
      constraint.mask(constraint.start());
      return constraint;
    } catch (InvalidGrammar e) {
      throw new MeshException(
          FailureKind.INVALID_REQUEST,
          "invalid_constraint",
          "The form asked for cannot be kept to: %s.".formatted(e.getMessage()),
          null,
          0);
    }
  }

  /** Made when there is a first constraint. */
  private synchronized TokenTrie trie() {
    if (trie == null) {
      trie = TokenTrie.of(vocabulary, tokenBytes);
    }
    return trie;
  }
}
