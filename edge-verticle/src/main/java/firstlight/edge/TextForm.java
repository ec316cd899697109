package firstlight.edge;

import firstlight.model.Grammar;
import firstlight.model.InvalidGrammar;
import firstlight.protocol.MeshException;
import java.util.function.Supplier;

/**
 * What the text of an answer must keep to.
 *
 * @param param the field that asks for it
 * @param source makes the grammar, or says what is wrong with it
 */
record TextForm(String param, Supplier<Grammar> source) {
  /**
   * It may take long.
   *
   * @throws MeshException there is none, with the field and the reason
   */
  Grammar grammar() {
    try {
      return source.get();
    } catch (InvalidGrammar e) {
      throw unkept(param, e);
    }
  }

  /**
   * Looks whether an answer can be held to it.
   *
   * @throws MeshException it cannot, with the field and the reason
   */
  void check() {
    try {
      grammar().checked();
    } catch (InvalidGrammar e) {
      throw unkept(param, e);
    }
  }

  /** That a field asks for what no answer can be held to. */
  static MeshException unkept(String param, InvalidGrammar reason) {
    return MeshException.invalid(
        "%s cannot be kept to: %s.".formatted(param, reason.getMessage()), param);
  }
}
