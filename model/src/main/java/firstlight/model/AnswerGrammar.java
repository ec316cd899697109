package firstlight.model;

import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a whole answer must be: reasoning, then calls, or text and calls. For one grammar. */
final class AnswerGrammar {
  private static final String CALL = "call";
  private static final GrammarNode AFTER_THOUGHT =
      new GrammarNode.Repeat(new GrammarNode.Character(CharacterSet.of('\n')), 0, 2);

  private final CallNotation notation;
  private final AnswerRules answer;
  private final Map<String, GrammarNode> rules = new LinkedHashMap<>();

  AnswerGrammar(CallNotation notation, AnswerRules answer) {
    this.notation = notation;
    this.answer = answer;
  }

  /**
   * @param reasons whether there may be reasoning at the beginning
   * @param reasoning whether the prompt has opened it
   * @return empty: it may be anything
   * @throws InvalidGrammar a tool's parameters cannot be kept to, or a name is no tool's
   */
  Optional<Grammar> grammar(boolean reasons, boolean reasoning) {
    rules.put(Grammar.ROOT, GrammarNode.EMPTY);
    GrammarNode body = body(answer.callable());
    if (body == null) {
      return Optional.empty();
    }
    GrammarNode root = body;
    if (reasons || reasoning) {
      GrammarNode thought =
          sequence(
              new FreeText(rules, "thought", List.of(FamilyParser.THOUGHT)).any(),
              text(FamilyParser.THOUGHT),
              AFTER_THOUGHT);
      root =
          sequence(
              reasoning ? thought : optional(sequence(text(FamilyParser.THINK), thought)), body);
    }
    rules.put(Grammar.ROOT, root);
    JsonGrammar.addNeeded(rules);
    return Optional.of(new Grammar(rules));
  }

  private @Nullable GrammarNode body(List<Tool> callable) {
    ToolChoice.Mode mode = answer.choice().mode();
    if (mode.isMust()) {
      return calls(callable, true);
    }
    GrammarNode text = answer.text().map(grammar -> grammar.into(rules, "text-")).orElse(null);
    if (answer.tools().isEmpty()) {
      return text;
    }
    if (mode == ToolChoice.Mode.NONE) {
      return text == null ? free() : text;
    }
    if (text != null) {
      return GrammarNode.choice(List.of(calls(callable, false), text));
    }
    boolean restricted =
        !answer.choice().names().isEmpty() || callable.stream().anyMatch(Tool::strict);
    return restricted ? textAndCalls(callable) : null;
  }

  /** Calls at the beginning of the answer. */
  private GrammarNode calls(List<Tool> callable, boolean strict) {
    boolean several = answer.parallel() && answer.choice().mode() != ToolChoice.Mode.NAMED;
    return notation.calls(call(callable, strict), several, true);
  }

  private GrammarNode textAndCalls(List<Tool> callable) {
    GrammarNode call = call(callable, false);
    GrammarNode after = notation.calls(call, answer.parallel(), false);
    return GrammarNode.choice(
        List.of(notation.calls(call, answer.parallel(), true), sequence(free(), optional(after))));
  }

  /** Text without a call. */
  private GrammarNode free() {
    return new FreeText(rules, "free", notation.markers()).notBeginningWith(notation.bareStart());
  }

  private GrammarNode call(List<Tool> callable, boolean strict) {
    ArgumentsGrammar arguments = new ArgumentsGrammar(rules, strict);
    List<GrammarNode> calls = new ArrayList<>();
    for (Tool tool : callable) {
      try {
        calls.add(notation.call(tool, arguments));
      } catch (InvalidGrammar e) {
        throw new InvalidGrammar(
            "tool %s: %s".formatted(InvalidModelFile.shown(tool.name()), e.getMessage()));
      }
    }
    rules.put(CALL, GrammarNode.choice(calls));
    return new GrammarNode.Reference(CALL);
  }
}
