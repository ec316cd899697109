package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.AnswerRules;
import firstlight.model.ChatMessage;
import firstlight.model.ChatTemplate;
import firstlight.model.Grammar;
import firstlight.model.InvalidGrammar;
import firstlight.model.TemplateException;
import firstlight.model.Tokenizer;
import firstlight.model.ToolChoice;
import firstlight.model.ToolFormat;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Makes token ids of a request's prompts. It may take long for long prompts, so it is run on a
 * worker thread; it has no state.
 *
 * <p>The rule for lengths, the same for every dialect and whatever the limit comes from: a prompt
 * must leave room for at least one token, so one with as many tokens as there are positions is
 * refused; an output limit larger than the room left, or than an answer may be, is lowered to it,
 * and the answer then ends with the reason "length".
 */
final class PromptBuilder {
  /** Enough for a marker of reasoning and blanks after it. */
  private static final int END_TOKENS = 16;

  private final EdgeConfig.Limits limits;

  /**
   * Prompts ready to be submitted.
   *
   * @param ids token ids of each
   * @param stop stop strings as bytes
   * @param stopTokens ids that end an answer
   * @param lengths how long each Sequence and its answer may be
   * @param constraint as in {@link firstlight.protocol.GenerationSpec#constraint}
   * @param parsers gives one for each answer
   */
  record Prompts(
      List<int[]> ids,
      List<byte[]> stop,
      int[] stopTokens,
      LengthLimits lengths,
      String constraint,
      Supplier<AnswerParser> parsers) {
    /** Most tokens an answer to that prompt can have. */
    int outputMax(int prompt, TurnRequest request) {
      int wanted = Math.min(request.outputMax().orElse(Integer.MAX_VALUE), lengths.outputMax());
      return Math.min(wanted, lengths.contextMax() - ids.get(prompt).length);
    }
  }

  PromptBuilder(EdgeConfig.Limits limits) {
    this.limits = limits;
  }

  /**
   * @param lengths how long each Sequence and its answer may be
   * @throws MeshException the request can not be served
   */
  Prompts build(TurnRequest request, EdgeModel model, LengthLimits lengths, Instant now) {
    checkBiases(request, model);
    ToolFormat format = format(request, model);
    List<int[]> ids = new ArrayList<>();
    long characters = 0;
    for (TurnPrompt asked : request.prompts()) {
      TurnPrompt prompt = told(asked, request.form(), format);
      String param = param(request, prompt);
      long length = characters(prompt);
      characters += length;
      checkCharacters(characters, param);
      long tokensMin = length / model.tokenBytesMax();
      if (tokensMin >= lengths.contextMax()) {
        throw lengths.tooLong("at least " + tokensMin, param);
      }
      int[] tokens = tokens(prompt, model, param, now);
      if (tokens.length == 0) {
        throw MeshException.invalid("The prompt is empty.", param);
      }
      if (tokens.length >= lengths.contextMax()) {
        throw lengths.tooLong(String.valueOf(tokens.length), param);
      }
      ids.add(tokens);
    }
    String promptEnd = end(ids.getLast(), model.tokenizer());
    boolean calls = calls(request.form());
    return new Prompts(
        List.copyOf(ids),
        request.stop().stream().map(stop -> stop.getBytes(StandardCharsets.UTF_8)).toList(),
        request.ignoreEnd() ? new int[0] : model.tokenizer().endTokens(),
        lengths,
        constraint(request.form(), format, promptEnd),
        () -> format.parser(calls, promptEnd));
  }

  /**
   * How many tokens the prompts of a request have.
   *
   * @throws MeshException they cannot be made
   */
  int count(TurnRequest request, EdgeModel model, Instant now) {
    ToolFormat format = format(request, model);
    long characters = 0;
    int count = 0;
    for (TurnPrompt asked : request.prompts()) {
      TurnPrompt prompt = told(asked, request.form(), format);
      String param = param(request, prompt);
      characters += characters(prompt);
      checkCharacters(characters, param);
      count += tokens(prompt, model, param, now).length;
    }
    return count;
  }

  private void checkCharacters(long characters, String param) {
    if (characters > limits.promptCharactersMax()) {
      throw MeshException.invalid(
          "The prompt has more than %d characters.".formatted(limits.promptCharactersMax()), param);
    }
  }

  private static int[] tokens(TurnPrompt prompt, EdgeModel model, String param, Instant now) {
    return switch (prompt) {
      case TurnPrompt.Text(String text) -> model.tokenizer().encodePrompt(text);
      case TurnPrompt.Tokens(int[] ids) -> checked(ids, model.tokenizer(), param);
      case TurnPrompt.Conversation conversation -> rendered(conversation, model, param, now);
    };
  }

  /** Calls and reasoning are only in conversations, of which a request has one at most. */
  private static ToolFormat format(TurnRequest request, EdgeModel model) {
    return request.prompts().getLast() instanceof TurnPrompt.Conversation
        ? model.template().map(ToolFormat::of).orElseGet(ToolFormat::plain)
        : ToolFormat.plain();
  }

  /** With what the template does not say of tools. */
  private static TurnPrompt told(TurnPrompt prompt, AnswerForm form, ToolFormat format) {
    if (!(prompt instanceof TurnPrompt.Conversation conversation)) {
      return prompt;
    }
    return new TurnPrompt.Conversation(
        format.messages(conversation.messages(), form.tools(), form.choice()),
        format.tellsTools() ? conversation.tools() : List.of(),
        conversation.extra());
  }

  private static boolean calls(AnswerForm form) {
    return !form.tools().isEmpty() && form.choice().mode() != ToolChoice.Mode.NONE;
  }

  /** The text of the last few tokens, control tokens too. */
  private static String end(int[] ids, Tokenizer tokenizer) {
    StringBuilder text = new StringBuilder();
    for (int i = Math.max(0, ids.length - END_TOKENS); i < ids.length; i++) {
      text.append(
          tokenizer.isControl(ids[i])
              ? tokenizer.text(ids[i])
              : new String(tokenizer.bytes(ids[i]), StandardCharsets.UTF_8));
    }
    return text.toString();
  }

  /** What the answer must keep to, as text: it can be followed. */
  private static String constraint(AnswerForm form, ToolFormat format, String promptEnd) {
    Optional<Grammar> text = form.text().map(TextForm::grammar);
    try {
      AnswerRules rules = new AnswerRules(form.tools(), form.choice(), form.parallel(), text);
      return format.grammar(rules, promptEnd).map(Grammar::checked).orElse("");
    } catch (InvalidGrammar e) {
      form.text().ifPresent(TextForm::check);
      // It can be kept to alone, but not together with what else an answer has.
      boolean tools = !form.tools().isEmpty() || form.text().isEmpty();
      throw TextForm.unkept(tools ? "tools" : form.text().orElseThrow().param(), e);
    }
  }

  private static int[] checked(int[] ids, Tokenizer tokenizer, String param) {
    for (int id : ids) {
      if (id < 0 || id >= tokenizer.vocabularySize()) {
        throw MeshException.invalid(
            "The prompt has the token id %d, but ids run from 0 to %d."
                .formatted(id, tokenizer.vocabularySize() - 1),
            param);
      }
    }
    return ids;
  }

  private static int[] rendered(
      TurnPrompt.Conversation conversation, EdgeModel model, String param, Instant now) {
    ChatTemplate template =
        model
            .template()
            .orElseThrow(
                () ->
                    new MeshException(
                        FailureKind.INVALID_REQUEST,
                        "no_chat_template",
                        ("The model %s has no chat template, so it has no conversations. Use"
                                + " /v1/completions, or configure a template for it.")
                            .formatted(model.name()),
                        "model",
                        0));
    try {
      return template.prompt(
          conversation.messages(), conversation.tools(), conversation.extra(), true, now);
    } catch (TemplateException e) {
      String sentence = String.valueOf(e.getMessage());
      throw new MeshException(
          FailureKind.INVALID_REQUEST,
          "template_refused",
          e.refusal() ? "The model's chat template refuses this: " + sentence : sentence,
          param,
          0);
    }
  }

  private static void checkBiases(TurnRequest request, EdgeModel model) {
    int vocabulary = model.tokenizer().vocabularySize();
    for (int id : request.sampling().biasTokens()) {
      if (id < 0 || id >= vocabulary) {
        throw MeshException.invalid(
            "logit_bias has the token id %d, but ids run from 0 to %d."
                .formatted(id, vocabulary - 1),
            "logit_bias");
      }
    }
  }

  private static long characters(TurnPrompt prompt) {
    return switch (prompt) {
      case TurnPrompt.Text(String text) -> text.length();
      case TurnPrompt.Tokens _ -> 0;
      case TurnPrompt.Conversation conversation ->
          conversation.messages().stream()
              .map(ChatMessage::content)
              .mapToLong(String::length)
              .sum();
    };
  }

  private static String param(TurnRequest request, TurnPrompt prompt) {
    if (!(prompt instanceof TurnPrompt.Conversation)) {
      return "prompt";
    }
    return request.origin().dialect().equals("responses") ? "input" : "messages";
  }
}
