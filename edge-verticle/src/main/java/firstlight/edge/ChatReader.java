package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.Tool;
import firstlight.protocol.Priority;
import firstlight.protocol.ResponseId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the body of POST /v1/chat/completions. Thread-safe: long ones are read on workers. */
final class ChatReader {
  static final String DIALECT = "chat.completions";

  private final EdgeParts parts;
  private final SamplingReader sampling;
  private final ChatMessages messages;
  private final ToolReader tools;
  private final GrammarReader grammars;

  ChatReader(EdgeParts parts) {
    this.parts = parts;
    this.sampling = new SamplingReader(parts.config().limits());
    this.messages = new ChatMessages(parts.json(), parts.config().limits().messagesMax());
    this.tools = new ToolReader(parts.json(), parts.config().limits().toolsMax());
    this.grammars = new GrammarReader(parts.json());
  }

  CompletionRequest read(ObjectNode body, Caller caller) {
    Fields fields = new Fields(body);
    boolean streamed = fields.flag("stream", false);
    int topLogprobs = topLogprobs(fields);
    boolean keep = fields.flag("store", true);
    refuseWhatCannotBeHonoured(fields);
    Optional<ServiceTier> tier = ServiceTier.read(fields);
    Priority priority = tier.map(ServiceTier::priority).orElse(Priority.NORMAL);
    AnswerForm form = form(fields);
    TurnPrompt prompt =
        new TurnPrompt.Conversation(messages.read(fields), form.definitions(), extra(fields));
    TurnRequest turn =
        new TurnRequest(
            new ResponseId(parts.ids().next("chatcmpl-")),
            caller.tenant(),
            TurnOrigin.alone(caller, DIALECT, streamed, parts.config().text(caller.tenant(), keep)),
            fields.requiredText("model"),
            List.of(prompt),
            fields.integer("n", 1, parts.config().limits().answersMax()).orElse(1),
            sampling.sampling(fields, parts.ids().seed(), topLogprobs),
            SamplingReader.outputMax(fields, "max_completion_tokens", "max_tokens"),
            sampling.stops(fields),
            form,
            fields.flag("ignore_eos", false),
            new Urgency(priority, caller.firstTokenMillis()));
    return new CompletionRequest(
        turn,
        CompletionRequest.usageWanted(fields, streamed),
        fields.flag("return_token_ids", false),
        false,
        tier,
        fields.unread());
  }

  private static int topLogprobs(Fields fields) {
    boolean wanted = fields.flag("logprobs", false);
    int top = fields.integer("top_logprobs", 0, CompletionRequest.TOP_LOGPROBS_MAX).orElse(-1);
    fields.require(wanted || top < 0, "top_logprobs", "needs logprobs to be true");
    return wanted ? Math.max(0, top) : -1;
  }

  // Better a clear answer than one that silently is not what was asked for.
  private static void refuseWhatCannotBeHonoured(Fields fields) {
    fields.require(
        !fields.has("chat_template"), "chat_template", "can not be part of a request here");
  }

  private AnswerForm form(Fields fields) {
    List<Tool> offered = tools.tools(fields);
    return new AnswerForm(
        offered,
        tools.choice(fields, offered),
        fields.flag("parallel_tool_calls", true),
        grammars.read(fields));
  }

  private Map<String, Object> extra(Fields fields) {
    return fields
        .object("chat_template_kwargs")
        .map(
            extra -> {
              extra.require(
                  !extra.has("chat_template"),
                  "chat_template",
                  "can not be part of a request here");
              extra.node().fieldNames().forEachRemaining(extra::has);
              return parts.json().plain(withoutNulls(extra.node()));
            })
        .orElse(Map.of());
  }

  private static ObjectNode withoutNulls(ObjectNode node) {
    ObjectNode copy = Json.object();
    node.properties().stream()
        .filter(field -> !field.getValue().isNull())
        .forEach(field -> copy.set(field.getKey(), field.getValue()));
    return copy;
  }
}
