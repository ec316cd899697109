package firstlight.edge;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * The content of a compaction Item: what was said before, in short. Clients keep it without looking
 * inside; it is no secret, and one that a client makes up is no more than other input.
 */
final class ResponseSummary {
  private static final String PREFIX = "fl1_";

  private ResponseSummary() {}

  static String encode(String summary) {
    byte[] bytes = summary.getBytes(StandardCharsets.UTF_8);
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** The summary; empty where it is none of ours. */
  static Optional<String> decode(String content) {
    if (!content.startsWith(PREFIX)) {
      return Optional.empty();
    }
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(content.substring(PREFIX.length()));
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (IllegalArgumentException | CharacterCodingException _) {
      return Optional.empty();
    }
  }
}
