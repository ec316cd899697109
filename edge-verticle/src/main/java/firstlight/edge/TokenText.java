package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/** How a token is written in log-probabilities. */
final class TokenText {
  private final IntFunction<String> names;

  /**
   * @param names texts of tokens that have no bytes, by id
   */
  TokenText(IntFunction<String> names) {
    this.names = names;
  }

  /**
   * Its text; {@code bytes:\xf0\x9f} where its bytes are no whole characters, so that different
   * tokens never look the same; a control token's name.
   */
  String of(int id, byte[] bytes) {
    if (bytes.length == 0) {
      return names.apply(id);
    }
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
