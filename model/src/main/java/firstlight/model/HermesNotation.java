package firstlight.model;

import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Hermes, Qwen, SmolLM: {@code <tool_call>{"name": …, "arguments": {…}}</tool_call>}, also with a
 * list of calls within. Taken for models that say nothing of tools, too.
 */
final class HermesNotation implements CallNotation {
  private static final String BEGIN = "<tool_call>";
  private static final String END = "</tool_call>";
  private static final CallsReader.Shape SHAPE = new CallsReader.Shape(true, true, "", END);

  @Override
  public List<String> markers() {
    return List.of(BEGIN);
  }

  @Override
  public CallReader reader() {
    return new CallsReader(SHAPE, () -> new JsonCall(false));
  }

  @Override
  public CharacterSet bareStart() {
    return CharacterSet.NONE;
  }

  @Override
  public @Nullable CallReader bareReader() {
    return null;
  }

  @Override
  public GrammarNode call(Tool tool, ArgumentsGrammar arguments) {
    return CallNotation.json(tool, "arguments", arguments);
  }

  @Override
  public GrammarNode calls(GrammarNode call, boolean parallel, boolean bare) {
    GrammarNode one = sequence(text(BEGIN + "\n"), call, text("\n" + END));
    return CallNotation.several(one, "\n", parallel);
  }

  @Override
  public String written(List<WrittenCall> calls) {
    return calls.stream()
        .map(call -> BEGIN + "\n" + call.json("arguments") + "\n" + END)
        .collect(Collectors.joining("\n"));
  }

  @Override
  public String result(String content) {
    return "<tool_response>\n" + content + "\n</tool_response>";
  }

  @Override
  public String explanation() {
    return """
    For each function call, write a JSON object with the function's name and its arguments \
    between <tool_call> and </tool_call>:
    <tool_call>
    {"name": <function-name>, "arguments": <arguments-object>}
    </tool_call>\
    """;
  }
}
