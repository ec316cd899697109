package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Usage;
import org.jspecify.annotations.Nullable;

/**
 * The Response object of the specification (ResponseResource) in each of its states. Every state
 * has every required key, with null where the specification allows it and nothing is known.
 */
final class ResponseResource {
  static final String ID_PREFIX = "resp_";

  private final ResponseId id;
  private final long created;
  private final ObjectNode echo;

  /**
   * What it took.
   *
   * @param reasoning tokens of the output that the reader is not meant to see
   */
  record Cost(Usage usage, int reasoning) {
    void put(ObjectNode into) {
      into.put("input_tokens", usage.prompt());
      // The last key is not the specification's, but a client's type asks for it.
      into.putObject("input_tokens_details")
          .put("cached_tokens", usage.cached())
          .put("cache_write_tokens", 0);
      into.put("output_tokens", usage.output());
      into.putObject("output_tokens_details").put("reasoning_tokens", reasoning);
      into.put("total_tokens", usage.total());
    }
  }

  /**
   * @param created Unix time, s
   * @param echo what every state repeats of the request: see {@link ResponseRequest#echo}
   */
  ResponseResource(ResponseId id, long created, ObjectNode echo) {
    this.id = id;
    this.created = created;
    this.echo = echo;
  }

  ResponseId id() {
    return id;
  }

  /**
   * The id of an Item that is part of a Response. It follows from the Response's, so that whoever
   * makes the Response's events again gives its Items the same ids.
   *
   * @param suffix tells the Items of one Response apart
   */
  static String itemId(String prefix, ResponseId response, String suffix) {
    String value = response.value();
    return prefix
        + (value.startsWith(ID_PREFIX) ? value.substring(ID_PREFIX.length()) : value)
        + suffix;
  }

  ObjectNode queued() {
    return state("queued", Json.array());
  }

  ObjectNode inProgress() {
    return state("in_progress", Json.array());
  }

  /**
   * @param incomplete why it ends before the model's own end; null: it does not
   * @param completed Unix time, s
   */
  ObjectNode ended(ArrayNode output, Cost cost, @Nullable String incomplete, long completed) {
    ObjectNode state = state(incomplete == null ? "completed" : "incomplete", output);
    if (incomplete == null) {
      state.put("completed_at", completed);
    } else {
      state.putObject("incomplete_details").put("reason", incomplete);
    }
    cost.put(state.putObject("usage"));
    return state;
  }

  ObjectNode cancelled(ArrayNode output) {
    return state("cancelled", output);
  }

  ObjectNode failed(ArrayNode output, MeshException failure) {
    ObjectNode state = state("failed", output);
    state.putObject("error").put("code", failure.code()).put("message", failure.getMessage());
    return state;
  }

  private ObjectNode state(String status, ArrayNode output) {
    ObjectNode state =
        Json.object()
            .put("id", id.value())
            .put("object", "response")
            .put("created_at", created)
            .putNull("completed_at")
            .put("status", status)
            .putNull("incomplete_details")
            .putNull("error");
    state.setAll(echo);
    state.set("output", output);
    return state.putNull("usage");
  }
}
