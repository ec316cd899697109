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
 * @param contextLimit positions that its configuration allows a Sequence: prompt and answer
 * @param answerLimit most tokens that its configuration allows an answer
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
    int contextLimit,
    int answerLimit,
    String digest,
    long createdSeconds,
    int tokenBytesMax) {

  /** Without limits of a configuration. Looks at each token once for the longest. */
  public EdgeModel(
      String name,
      Tokenizer tokenizer,
      Optional<ChatTemplate> template,
      int contextMax,
      String digest,
      long createdSeconds) {
    this(
        name,
        tokenizer,
        template,
        contextMax,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        digest,
        createdSeconds,
        longest(tokenizer));
  }

  /** SHA-256 of the source of its template, hexadecimal; empty without one. */
  String templateDigest() {
    return template.map(ChatTemplate::digest).orElse("");
  }

  /** The same within limits of its configuration. */
  public EdgeModel within(int contextLimit, int answerLimit) {
    return new EdgeModel(
        name,
        tokenizer,
        template,
        contextMax,
        contextLimit,
        answerLimit,
        digest,
        createdSeconds,
        tokenBytesMax);
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
