package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Priority;
import firstlight.protocol.ResponseId;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Reads the bodies of Anthropic's messages. Thread-safe: long ones are read on workers. */
final class MessagesReader {
  static final String DIALECT = "messages";

  private static final Set<String> TIERS = Set.of("auto", "standard_only");

  private final EdgeParts parts;
  private final SamplingReader sampling;
  private final MessagesTools tools;

  /**
   * A request of Anthropic's messages.
   *
   * @param ignored full paths of fields that had no effect
   */
  record Request(TurnRequest turn, List<String> ignored) {}

  MessagesReader(EdgeParts parts) {
    this.parts = parts;
    this.sampling = new SamplingReader(parts.config().limits());
    this.tools = new MessagesTools(parts.json(), parts.config().limits().toolsMax());
  }

  /** Of POST /v1/messages. */
  Request read(ObjectNode body, Caller caller) {
    Fields fields = new Fields(body);
    OptionalInt outputMax = SamplingReader.outputMax(fields, "max_tokens");
    if (outputMax.isEmpty()) {
      throw fields.missing("max_tokens");
    }
    return read(fields, caller, outputMax);
  }

  /** Of POST /v1/messages/count_tokens: as for an answer of any length. */
  Request readForCount(ObjectNode body, Caller caller) {
    return read(new Fields(body), caller, OptionalInt.empty());
  }

  private Request read(Fields fields, Caller caller, OptionalInt outputMax) {
    boolean streamed = fields.flag("stream", false);
    AnswerForm form = tools.form(fields);
    checkWhatHasNoEffect(fields);
    TurnPrompt prompt =
        new TurnPrompt.Conversation(
            MessagesConversation.read(fields, parts.json(), parts.config().limits().messagesMax()),
            form.definitions(),
            thinking(fields));
    TurnRequest turn =
        new TurnRequest(
            new ResponseId(parts.ids().next("msg_")),
            caller.tenant(),
            TurnOrigin.alone(caller, DIALECT, streamed, parts.config().text(caller.tenant(), true)),
            fields.requiredText("model"),
            List.of(prompt),
            1,
            sampling.sampling(fields, parts.ids().seed(), -1),
            outputMax,
            sampling.stops(fields, "stop_sequences"),
            form,
            false,
            new Urgency(Priority.NORMAL, caller.firstTokenMillis()));
    return new Request(turn, fields.unread());
  }

  /** What every client may send, and nothing here depends on. */
  private static void checkWhatHasNoEffect(Fields fields) {
    fields.object("metadata").ifPresent(metadata -> metadata.text("user_id"));
    fields
        .text("service_tier")
        .ifPresent(
            tier ->
                fields.require(
                    TIERS.contains(tier), "service_tier", "must be auto or standard_only"));
  }

  /** As templates of models that reason know it; they think as they like without it. */
  private static Map<String, Object> thinking(Fields fields) {
    return fields
        .object("thinking")
        .map(
            thinking ->
                switch (thinking.requiredText("type")) {
                  case "enabled", "adaptive" -> Map.<String, Object>of("enable_thinking", true);
                  case "disabled" -> Map.<String, Object>of("enable_thinking", false);
                  default ->
                      throw thinking.refused("type", "must be enabled, adaptive or disabled");
                })
        .orElse(Map.of());
  }
}
