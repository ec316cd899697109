package firstlight.edge;

import firstlight.model.ChatTemplate;
import firstlight.model.Tokenizer;
import java.util.Optional;

/**
 * A model as the client's side knows it: no weights.
 *
 * @param name as clients say it
 * @param template empty for a base model, which has no chat
 * @param contextMax positions it was made for
 * @param digest SHA-256 of its file, hexadecimal
 * @param createdSeconds Unix time, s, shown in the list of models
 * @param tokenBytesMax bytes of its longest token: a text has at least its length over this many
 *     tokens
 */
public record EdgeModel(
    String name,
    Tokenizer tokenizer,
    Optional<ChatTemplate> template,
    int contextMax,
    String digest,
    long createdSeconds,
    int tokenBytesMax) {

  /** Looks at each token once for the longest. */
  public EdgeModel(
      String name,
      Tokenizer tokenizer,
      Optional<ChatTemplate> template,
      int contextMax,
      String digest,
      long createdSeconds) {
    this(name, tokenizer, template, contextMax, digest, createdSeconds, longest(tokenizer));
  }

  private static int longest(Tokenizer tokenizer) {
    int longest = 1;
    for (int id = 0; id < tokenizer.vocabularySize(); id++) {
      int length = tokenizer.isControl(id) ? tokenizer.text(id).length() : 0;
      longest = Math.max(longest, Math.max(length, tokenizer.bytes(id).length));
    }
    return longest;
  }
}
