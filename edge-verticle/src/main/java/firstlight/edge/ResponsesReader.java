package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ConversationId;
import firstlight.protocol.IdSource;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Reads a body of {@code POST /v1/responses} or a WebSocket's {@code response.create}. Fieldsthat
 * it does not know are accepted; known ones of a wrong type are refused by name, and so is what
 * would change the answer's meaning and is not supported.
 */
final class ResponsesReader {
  private static final int METADATA_ENTRIES_MAX = 16;
  private static final int METADATA_KEY_MAX = 64;
  private static final int METADATA_VALUE_MAX = 512;
  private static final int IDENTIFIER_MAX = 64;
  private static final int INCLUDES_MAX = 32;
  private static final String LOGPROBS = "message.output_text.logprobs";
  private static final List<String> TRUNCATIONS = List.of("auto", "disabled");
  private static final List<String> EFFORTS =
      List.of("none", "minimal", "low", "medium", "high", "xhigh");
  private static final List<String> SUMMARIES = List.of("auto", "concise", "detailed");

  private final EdgeConfig.Limits limits;
  private final ResponseForms forms;
  private final IdSource ids;

  /** How a request came. */
  enum Transport {
    HTTP,
    /** Streams always, so the fields that say how to stream are overlooked. */
    WEB_SOCKET
  }

  ResponsesReader(EdgeConfig.Limits limits, Json json, IdSource ids) {
    this.limits = limits;
    this.forms = new ResponseForms(json, limits.toolsMax());
    this.ids = ids;
  }

  /**
   * @throws firstlight.protocol.MeshException of kind INVALID_REQUEST; NOT_FOUND for a previous
   *     Response or a conversation that cannot exist
   */
  ResponseRequest read(ObjectNode body, Transport transport) {
    Fields fields = new Fields(body);
    String model = fields.requiredText("model");
    refuseUnsupported(fields);
    boolean webSocket = transport == Transport.WEB_SOCKET;
    boolean stream = webSocket || streamed(fields);
    boolean generate = !webSocket || fields.flag("generate", true);
    ResponseId id = new ResponseId(ids.next(ResponseResource.ID_PREFIX));
    ResponseId previous = previous(fields);
    ConversationId conversation = ResponseConversation.read(fields);
    ArrayNode input = new ResponseItems(limits, id).read(fields);
    fields.require(
        !input.isEmpty() || previous != null || conversation != null || !generate,
        "input",
        "must have at least one Item, or build on a previous response or a conversation");
    ServiceTier tier = ServiceTier.read(fields).orElse(ServiceTier.DEFAULT);
    ObjectNode echo = echo(fields, model, tier);
    ResponseConversation.check(conversation, fields, echo);
    boolean background = !webSocket && fields.flag("background", false);
    fields.require(
        !background || echo.get("store").booleanValue(), "background", "needs store to be true");
    echo.put("background", background);
    AnswerForm form = forms.read(fields, echo);
    boolean logprobs = fields.texts("include", INCLUDES_MAX).contains(LOGPROBS);
    return new ResponseRequest(
        id,
        model,
        input,
        fields.text("instructions").orElse(null),
        previous,
        conversation,
        echo.get("store").booleanValue(),
        stream,
        generate,
        echo.get("background").booleanValue(),
        logprobs,
        sampling(echo, logprobs),
        echo.get("max_output_tokens").isNull()
            ? OptionalInt.empty()
            : OptionalInt.of(echo.get("max_output_tokens").intValue()),
        tier.priority(),
        form,
        echo,
        fields.unread());
  }

  private static boolean streamed(Fields fields) {
    fields.object("stream_options").ifPresent(options -> options.flag("include_obfuscation"));
    return fields.flag("stream", false);
  }

  private static void refuseUnsupported(Fields fields) {
    fields.require(!fields.has("prompt"), "prompt", "is not supported: send instructions instead");
  }

  private static @Nullable ResponseId previous(Fields fields) {
    String id = fields.text("previous_response_id").orElse(null);
    return id == null ? null : ResponseErrors.id(id, ResponseErrors.previousNotFound(id));
  }

  private static ObjectNode echo(Fields fields, String model, ServiceTier tier) {
    ObjectNode echo = Json.object().put("model", model);
    echo.put("previous_response_id", fields.text("previous_response_id").orElse(null));
    echo.put("instructions", fields.text("instructions").orElse(null));
    echo.put("truncation", choice(fields, "truncation", TRUNCATIONS).orElse("disabled"));
    echo.put("top_p", fields.number("top_p", 0, 1).orElse(1));
    fields.require(echo.get("top_p").doubleValue() > 0, "top_p", "must be above 0");
    echo.put("presence_penalty", fields.number("presence_penalty", -2, 2).orElse(0));
    echo.put("frequency_penalty", fields.number("frequency_penalty", -2, 2).orElse(0));
    echo.put(
        "top_logprobs", fields.integer("top_logprobs", 0, Sampling.TOP_LOGPROBS_MAX).orElse(0));
    echo.put("temperature", fields.number("temperature", 0, 2).orElse(1));
    echo.set("reasoning", reasoning(fields));
    put(echo, "max_output_tokens", fields.integer("max_output_tokens", 1, Integer.MAX_VALUE));
    put(echo, "max_tool_calls", fields.integer("max_tool_calls", 1, Integer.MAX_VALUE));
    echo.put("store", fields.flag("store", true));
    echo.put("service_tier", tier.served());
    echo.set("metadata", metadata(fields));
    echo.put("safety_identifier", fields.text("safety_identifier", IDENTIFIER_MAX).orElse(null));
    echo.put("prompt_cache_key", fields.text("prompt_cache_key", IDENTIFIER_MAX).orElse(null));
    return echo;
  }

  private static void put(ObjectNode echo, String name, OptionalInt value) {
    if (value.isPresent()) {
      echo.put(name, value.getAsInt());
    } else {
      echo.putNull(name);
    }
  }

  /** A string that is one of the choices, if it is there. */
  static Optional<String> choice(Fields fields, String name, List<String> choices) {
    Optional<String> choice = fields.text(name);
    fields.require(
        choice.map(choices::contains).orElse(true),
        name,
        "must be one of " + String.join(", ", choices));
    return choice;
  }

  private static JsonNode reasoning(Fields fields) {
    Optional<Fields> asked = fields.object("reasoning");
    if (asked.isEmpty()) {
      return Json.object().nullNode();
    }
    return Json.object()
        .put("effort", choice(asked.get(), "effort", EFFORTS).orElse(null))
        .put("summary", choice(asked.get(), "summary", SUMMARIES).orElse(null));
  }

  /** Of any object of the API: names and values that belong to the client. */
  static ObjectNode metadata(Fields fields) {
    JsonNode value = fields.any("metadata").orElseGet(Json::object);
    fields.require(value.isObject(), "metadata", "must be an object");
    ObjectNode metadata = (ObjectNode) value;
    fields.require(
        metadata.size() <= METADATA_ENTRIES_MAX,
        "metadata",
        "must have at most %d entries".formatted(METADATA_ENTRIES_MAX));
    for (Map.Entry<String, JsonNode> entry : metadata.properties()) {
      fields.require(
          entry.getKey().length() <= METADATA_KEY_MAX
              && entry.getValue().isTextual()
              && entry.getValue().textValue().length() <= METADATA_VALUE_MAX,
          "metadata",
          "must have names of at most %d and strings of at most %d characters"
              .formatted(METADATA_KEY_MAX, METADATA_VALUE_MAX));
    }
    return metadata;
  }

  private Sampling sampling(ObjectNode echo, boolean logprobs) {
    return new Sampling(
        echo.get("temperature").floatValue(),
        0,
        // A value just above 0 may become 0 in the narrower type.
        Math.max(echo.get("top_p").floatValue(), Float.MIN_NORMAL),
        0,
        1,
        echo.get("presence_penalty").floatValue(),
        echo.get("frequency_penalty").floatValue(),
        new int[0],
        new float[0],
        ids.seed(),
        logprobs ? echo.get("top_logprobs").intValue() : -1);
  }
}
