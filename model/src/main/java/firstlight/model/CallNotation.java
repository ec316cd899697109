package firstlight.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a family of models writes calls: what begins them, who reads them, what they must be. */
interface CallNotation {
  /** What begins calls wherever it stands in an answer; without blanks. */
  List<String> markers();

  /** Reads what comes after a marker. */
  CallReader reader();

  /**
   * The characters with which calls begin that stand at the beginning of an answer without a
   * marker.
   */
  CharacterSet bareStart();

  /** Reads such calls; null: there are none. */
  @Nullable CallReader bareReader();

  /**
   * The calls of one tool, without what stands around them.
   *
   * @throws InvalidGrammar the tool cannot be called in this notation
   */
  GrammarNode call(Tool tool, ArgumentsGrammar arguments);

  /**
   * One call, or several, with what stands around them.
   *
   * @param call of any of the tools that may be called
   * @param bare whether it is at the beginning of an answer
   */
  GrammarNode calls(GrammarNode call, boolean parallel, boolean bare);

  /** One, or several with something between. */
  static GrammarNode several(GrammarNode one, String between, boolean parallel) {
    return parallel
        ? GrammarNode.sequence(
            one,
            new GrammarNode.Repeat(
                GrammarNode.sequence(GrammarNode.text(between), one), 0, GrammarNode.MANY))
        : one;
  }

  /** A call as a JSON object. */
  static GrammarNode json(Tool tool, String word, ArgumentsGrammar arguments) {
    String head = "{\"name\": %s, \"%s\": ".formatted(JsonText.of(tool.name()), word);
    return GrammarNode.sequence(
        GrammarNode.text(head), arguments.object(tool), GrammarNode.text("}"));
  }

  /** Calls as they stand in a conversation. */
  String written(List<WrittenCall> calls);

  /** What a tool gave, as it stands in a conversation. */
  String result(String content);

  /** Tells a model that knows nothing of tools how to call them. */
  String explanation();

  /**
   * A call that was made.
   *
   * @param arguments as a map where they are valid JSON; else their text
   */
  record WrittenCall(String name, Object arguments) {
    /** As a JSON object. */
    String json(String word) {
      return "{\"name\": %s, \"%s\": %s}".formatted(JsonText.of(name), word, argumentsJson());
    }

    String argumentsJson() {
      return arguments instanceof Map<?, ?> ? JsonText.of(arguments) : String.valueOf(arguments);
    }
  }
}
