package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Priority;
import firstlight.protocol.ResponseId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads the body of POST /v1/completions. Thread-safe: long ones are read on workers. */
final class CompletionsReader {
  static final String DIALECT = "completions";

  /** OpenAI's own default, unlike in chat, where an answer has its natural end. */
  private static final int OUTPUT_DEFAULT = 16;

  private static final int PROMPT_TOKENS_MAX = 1 << 21;

  private final EdgeParts parts;
  private final SamplingReader sampling;
  private final GrammarReader grammars;

  CompletionsReader(EdgeParts parts) {
    this.parts = parts;
    this.sampling = new SamplingReader(parts.config().limits());
    this.grammars = new GrammarReader(parts.json());
  }

  CompletionRequest read(ObjectNode body, Caller caller) {
    Fields fields = new Fields(body);
    boolean streamed = fields.flag("stream", false);
    int topLogprobs = fields.integer("logprobs", 0, CompletionRequest.TOP_LOGPROBS_MAX).orElse(-1);
    int choices = fields.integer("n", 1, parts.config().limits().answersMax()).orElse(1);
    boolean echo = fields.flag("echo", false);
    fields.require(
        !echo || topLogprobs < 0, "echo", "can not be together with logprobs: a prompt has none");
    refuseWhatCannotBeHonoured(fields, choices);
    OptionalInt outputMax = SamplingReader.outputMax(fields, "max_tokens");
    TurnRequest turn =
        new TurnRequest(
            new ResponseId(parts.ids().next("cmpl-")),
            caller.tenant(),
            TurnOrigin.alone(caller, DIALECT, streamed, parts.config().text(caller.tenant(), true)),
            fields.requiredText("model"),
            prompts(fields, choices),
            choices,
            sampling.sampling(fields, parts.ids().seed(), topLogprobs),
            OptionalInt.of(outputMax.orElse(OUTPUT_DEFAULT)),
            sampling.stops(fields),
            AnswerForm.ofText(grammars.read(fields)),
            fields.flag("ignore_eos", false),
            new Urgency(Priority.NORMAL, caller.firstTokenMillis()));
    return new CompletionRequest(
        turn,
        CompletionRequest.usageWanted(fields, streamed),
        fields.flag("return_token_ids", false),
        echo,
        Optional.empty(),
        fields.unread());
  }

  private static void refuseWhatCannotBeHonoured(Fields fields, int choices) {
    fields.require(
        fields.text("suffix").orElse("").isEmpty(), "suffix", "is not supported by these models");
    int best = fields.integer("best_of", 1, Integer.MAX_VALUE).orElse(choices);
    fields.require(best == choices, "best_of", "must be the same as n");
  }

  private List<TurnPrompt> prompts(Fields fields, int choices) {
    JsonNode prompt = fields.any("prompt").orElseThrow(() -> fields.missing("prompt"));
    if (prompt.isTextual()) {
      return List.of(new TurnPrompt.Text(prompt.textValue()));
    }
    fields.require(
        prompt.isArray() && !prompt.isEmpty(),
        "prompt",
        "must be a string, a list of strings, a list of token ids, or a list of such lists");
    if (prompt.get(0).isIntegralNumber()) {
      return List.of(tokens(fields, (ArrayNode) prompt));
    }
    int max = parts.config().limits().answersMax() / choices;
    fields.require(
        prompt.size() <= max, "prompt", "must be at most %d prompts with this n".formatted(max));
    List<TurnPrompt> prompts = new ArrayList<>();
    for (JsonNode one : prompt) {
      if (one.isTextual()) {
        prompts.add(new TurnPrompt.Text(one.textValue()));
      } else {
        fields.require(
            one.isArray() && !one.isEmpty(),
            "prompt",
            "must have only strings, or only lists of token ids, none of them empty");
        prompts.add(tokens(fields, (ArrayNode) one));
      }
    }
    return prompts;
  }

  private static TurnPrompt tokens(Fields fields, ArrayNode list) {
    fields.require(
        list.size() <= PROMPT_TOKENS_MAX,
        "prompt",
        "must have at most %d tokens".formatted(PROMPT_TOKENS_MAX));
    int[] ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = list.get(i);
      fields.require(
          id.isIntegralNumber() && id.canConvertToInt() && id.intValue() >= 0,
          "prompt",
          "must have whole numbers from 0 as token ids");
      ids[i] = id.intValue();
    }
    return new TurnPrompt.Tokens(ids);
  }
}
