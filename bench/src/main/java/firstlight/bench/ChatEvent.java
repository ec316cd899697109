package firstlight.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * One event of a streamed chat completion.
 *
 * @param hasText whether it brings text of the answer
 * @param promptTokens -1: it does not say
 * @param completionTokens -1: it does not say
 * @param error what went wrong; empty: nothing
 * @param retryAfterMillis when a client that was refused may come again; -1: it does not say
 */
record ChatEvent(
    boolean hasText, int promptTokens, int completionTokens, String error, long retryAfterMillis) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static ChatEvent read(String data) {
    if (data.equals("[DONE]")) {
      return new ChatEvent(false, -1, -1, "", -1);
    }
    try {
      JsonNode event = JSON.readTree(data);
      JsonNode usage = event.path("usage");
      return new ChatEvent(
          !event.at("/choices/0/delta/content").asText("").isEmpty(),
          usage.path("prompt_tokens").asInt(-1),
          usage.path("completion_tokens").asInt(-1),
          event.has("error") ? event.get("error").toString() : "",
          event.at("/error/headers/retry-after-ms").asLong(-1));
    } catch (JsonProcessingException e) {
      return new ChatEvent(false, -1, -1, "an event is no JSON: " + e.getOriginalMessage(), -1);
    }
  }
}
