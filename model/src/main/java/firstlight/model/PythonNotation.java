package firstlight.model;

import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Gemma, newer small Llamas: {@code [name(argument=value, …), …]} as the whole answer, or in a
 * block of code named tool_code. Values are written as in JSON, and read as in Python, too.
 */
final class PythonNotation implements CallNotation {
  private static final String MARKER = "```tool_code";
  private static final String END = "```";
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");
  private static final CallsReader.Shape BLOCK = new CallsReader.Shape(true, true, ";,", END);
  private static final CallsReader.Shape BARE = new CallsReader.Shape(true, false, "", "");

  private final boolean block;

  /**
   * @param block whether calls are written in a block of code
   */
  PythonNotation(boolean block) {
    this.block = block;
  }

  @Override
  public List<String> markers() {
    return List.of(MARKER);
  }

  @Override
  public CallReader reader() {
    return new CallsReader(BLOCK, PythonCall::new);
  }

  @Override
  public CharacterSet bareStart() {
    return CharacterSet.of('[');
  }

  @Override
  public @Nullable CallReader bareReader() {
    return new CallsReader(BARE, PythonCall::new);
  }

  @Override
  public GrammarNode call(Tool tool, ArgumentsGrammar arguments) {
    if (!NAME.matcher(tool.name()).matches()) {
      throw new InvalidGrammar("its name has characters that no name has in a call");
    }
    return sequence(text(tool.name() + "("), arguments.named(tool), text(")"));
  }

  @Override
  public GrammarNode calls(GrammarNode call, boolean parallel, boolean bare) {
    boolean inBlock = block || !bare;
    return sequence(
        text(inBlock ? MARKER + "\n[" : "["),
        CallNotation.several(call, ", ", parallel),
        text(inBlock ? "]\n" + END : "]"));
  }

  @Override
  public String written(List<WrittenCall> calls) {
    String list =
        calls.stream().map(PythonNotation::written).collect(Collectors.joining(", ", "[", "]"));
    return block ? MARKER + "\n" + list + "\n" + END : list;
  }

  private static String written(WrittenCall call) {
    String arguments =
        call.arguments() instanceof Map<?, ?> map
            ? map.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + JsonText.of(entry.getValue()))
                .collect(Collectors.joining(", "))
            : call.argumentsJson();
    return call.name() + "(" + arguments + ")";
  }

  @Override
  public String result(String content) {
    return "```tool_output\n" + content + "\n```";
  }

  @Override
  public String explanation() {
    String example = "[<function-name>(<argument-name>=<argument-value>, ...), ...]";
    return "To call functions, answer with a list of calls in Python's notation and with nothing"
        + " else:\n"
        + (block ? MARKER + "\n" + example + "\n" + END : example);
  }
}
