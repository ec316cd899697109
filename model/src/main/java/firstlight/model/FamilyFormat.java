package firstlight.model;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * That of a family of models.
 *
 * @param reasons whether answers may begin with reasoning
 * @param tellsTools whether the template tells the model of tools
 * @param tellsCalls whether the template writes calls and results of earlier turns
 */
record FamilyFormat(CallNotation notation, boolean reasons, boolean tellsTools, boolean tellsCalls)
    implements ToolFormat {

  @Override
  public AnswerParser parser(boolean tools, String promptEnd) {
    return new FamilyParser(tools ? notation : null, reasons, opensReasoning(promptEnd));
  }

  @Override
  public Optional<Grammar> grammar(AnswerRules rules, String promptEnd) {
    if (!reasons && rules.callable().isEmpty()) {
      return rules.text();
    }
    return new AnswerGrammar(notation, rules).grammar(reasons, opensReasoning(promptEnd));
  }

  private boolean opensReasoning(String promptEnd) {
    return reasons && promptEnd.stripTrailing().endsWith(FamilyParser.THINK);
  }

  /** What a system message has to say of the tools; empty: nothing. */
  String instructions(List<Tool> tools, ToolChoice choice) {
    if (tellsTools || tools.isEmpty()) {
      return "";
    }
    return tools.stream()
        .map(tool -> JsonText.of(tool.definition()))
        .collect(
            Collectors.joining(
                "\n",
                """
                You may call functions to help with the user's query. These are the functions, as \
                JSON:
                <tools>
                """,
                "\n</tools>\n\n" + notation.explanation() + wish(choice)));
  }

  /** Nothing where the model is free, so that the beginning of a prompt stays the same. */
  private static String wish(ToolChoice choice) {
    String named =
        choice.names().isEmpty() ? "" : " Call only " + String.join(", ", choice.names()) + ".";
    return switch (choice.mode()) {
      case AUTO -> named.isEmpty() ? "" : "\n" + named.strip();
      case NONE -> "\nAnswer without calling a function.";
      case REQUIRED, NAMED -> "\nYou must call a function now." + named;
    };
  }

  @Override
  public List<ChatMessage> messages(
      List<ChatMessage> messages, List<Tool> tools, ToolChoice choice) {
    List<ChatMessage> ordered = ResultOrder.of(messages);
    List<ChatMessage> told = tellsCalls ? ordered : new WrittenHistory(notation).of(ordered);
    String instructions = instructions(tools, choice);
    return instructions.isEmpty() ? told : WrittenHistory.instructed(told, instructions);
  }
}
