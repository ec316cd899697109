package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Feedback as the clients of Langfuse (POST /api/public/scores) and LangSmith (POST /feedback) send
 * it, put into the words of POST /v1/feedback, which then checks them. What has no place there is
 * left out.
 */
final class FeedbackShapes {
  private static final int METADATA_MAX = 16;
  private static final int METADATA_NAME_MAX = 64;
  private static final int METADATA_VALUE_MAX = 512;

  private FeedbackShapes() {}

  /**
   * A score. A trace is a Response, an observation an Item, a session a conversation.
   *
   * @throws MeshException it is about something else
   */
  static ObjectNode ofLangfuse(ObjectNode score) {
    if (score.hasNonNull("datasetRunId")) {
      throw MeshException.invalid(
          "Scores of dataset runs are not kept here; give a traceId, observationId or sessionId.",
          "datasetRunId");
    }
    ObjectNode feedback = Json.object();
    copy(score, "id", feedback, "id");
    ObjectNode target = feedback.putObject("target");
    if (score.hasNonNull("observationId")) {
      copy(score, "observationId", target, "item_id");
    } else {
      copy(score, "traceId", target, "response_id");
      copy(score, "sessionId", target, "conversation_id");
    }
    copy(score, "name", feedback, "name");
    copy(score, "comment", feedback, "comment");
    String type = score.path("dataType").asText("").toLowerCase(Locale.ROOT);
    JsonNode value = score.path("value");
    if (type.equals("boolean") && value.isNumber()) {
      feedback.put("value", value.doubleValue() != 0);
    } else {
      copy(score, "value", feedback, "value");
    }
    if (!type.isEmpty()) {
      feedback.put("data_type", type);
    }
    feedback.put("source", score.path("source").asText("langfuse"));
    metadata(feedback, score.path("metadata"), "environment", score.path("environment"));
    return feedback;
  }

  /** A feedback about a run, which is a Response. */
  static ObjectNode ofLangSmith(ObjectNode given) {
    ObjectNode feedback = Json.object();
    copy(given, "id", feedback, "id");
    ObjectNode target = feedback.putObject("target");
    copy(given, given.hasNonNull("run_id") ? "run_id" : "trace_id", target, "response_id");
    copy(given, "key", feedback, "name");
    copy(given, "comment", feedback, "comment");
    JsonNode score = given.path("score");
    JsonNode value = given.path("value");
    if (score.isNumber() || score.isBoolean()) {
      feedback.set("value", score);
    } else if (value.isContainerNode()) {
      feedback.put("value", Json.text(value)).put("data_type", "text");
    } else {
      copy(given, "value", feedback, "value");
    }
    JsonNode correction = given.path("correction");
    if (!correction.isMissingNode() && !correction.isNull()) {
      feedback.put(
          "correction", correction.isTextual() ? correction.textValue() : Json.text(correction));
    }
    JsonNode source = given.path("feedback_source");
    feedback.put("source", source.path("type").asText("langsmith"));
    metadata(feedback, source.path("metadata"), null, Json.object());
    return feedback;
  }

  private static void copy(ObjectNode from, String name, ObjectNode to, String as) {
    if (from.hasNonNull(name)) {
      to.set(as, from.get(name));
    }
  }

  /** Values that are no strings become JSON; what is too long or too much is left out. */
  private static void metadata(
      ObjectNode feedback, JsonNode given, @Nullable String name, JsonNode value) {
    ObjectNode metadata = Json.object();
    if (name != null && value.isTextual()) {
      metadata.set(name, value);
    }
    for (Map.Entry<String, JsonNode> pair : given.properties()) {
      JsonNode one = pair.getValue();
      String text = one.isTextual() ? one.textValue() : Json.text(one);
      if (metadata.size() < METADATA_MAX
          && !pair.getKey().isEmpty()
          && pair.getKey().length() <= METADATA_NAME_MAX
          && text.length() <= METADATA_VALUE_MAX) {
        metadata.put(pair.getKey(), text);
      }
    }
    if (!metadata.isEmpty()) {
      feedback.set("metadata", metadata);
    }
  }
}
