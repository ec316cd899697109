package firstlight.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A request for a streamed answer of a fixed length.
 *
 * @param key of the tenant; empty: none
 * @param tokens of the answer, reached whatever the model says
 */
record Ask(String key, String system, String user, int tokens) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static Ask of(String system, String user, int tokens) {
    return new Ask("", system, user, tokens);
  }

  Ask by(String tenantKey) {
    return new Ask(tenantKey, system, user, tokens);
  }

  /** The body of a chat completion that both servers understand. */
  String body(String model) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", model);
    ArrayNode messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", system);
    messages.addObject().put("role", "user").put("content", user);
    body.put("max_tokens", tokens);
    body.put("ignore_eos", true);
    body.put("temperature", 0);
    body.put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    return body.toString();
  }
}
