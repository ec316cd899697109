package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import firstlight.model.Tokenizer;
import firstlight.model.Utf8Stream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** How the tokens of a model are written. */
final class TokenText {
  private final Optional<Tokenizer> tokenizer;

  private TokenText(Optional<Tokenizer> tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** For a model that may not exist: then tokens have no names. */
  static TokenText of(EdgeModels models, String model) {
    return new TokenText(
        models.has(model) ? Optional.of(models.find(model).tokenizer()) : Optional.empty());
  }

  /** The text of a prompt; control tokens stand in it by name. */
  String joined(int[] ids) {
    Utf8Stream text = new Utf8Stream();
    StringBuilder joined = new StringBuilder();
    for (int id : ids) {
      byte[] bytes = tokenizer.map(known -> known.bytes(id)).orElse(new byte[0]);
      joined.append(bytes.length == 0 ? text.flush() + name(id) : text.feed(bytes));
    }
    return joined.append(text.flush()).toString();
  }

  private String name(int id) {
    return tokenizer.map(known -> known.text(id)).orElse("");
  }

  /**
   * Its text; {@code bytes:\xf0\x9f} where its bytes are no whole characters, so that different
   * tokens never look the same; a control token's name.
   */
  String of(int id, byte[] bytes) {
    return bytes.length == 0 ? name(id) : of(bytes);
  }

  /** As {@link #of(int, byte[])}, for a token that has bytes. */
  static String of(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      StringBuilder text = new StringBuilder("bytes:");
      for (byte b : bytes) {
        text.append("\\x%02x".formatted(b & 0xff));
      }
      return text.toString();
    }
  }

  /** Unsigned bytes as a list of numbers. */
  static ArrayNode bytes(byte[] bytes) {
    ArrayNode list = Json.array();
    for (byte b : bytes) {
      list.add(b & 0xff);
    }
    return list;
  }

  /** JSON has no infinity: what is impossible is written as OpenAI does. */
  static double finite(float logprob) {
    return Float.isFinite(logprob) ? logprob : -9999.0;
  }
}
