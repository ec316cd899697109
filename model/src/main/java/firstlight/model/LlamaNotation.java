package firstlight.model;

import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Llama 3: {@code {"name": …, "parameters": {…}}} as the whole answer, or after {@code
 * <|python_tag|>}; several with semicolons between. An object without arguments is an answer like
 * any other unless it comes after the marker.
 */
final class LlamaNotation implements CallNotation {
  private static final String MARKER = "<|python_tag|>";
  private static final CallsReader.Shape SHAPE = new CallsReader.Shape(false, true, ";", "");

  @Override
  public List<String> markers() {
    return List.of(MARKER);
  }

  @Override
  public CallReader reader() {
    return new CallsReader(SHAPE, () -> new JsonCall(false));
  }

  @Override
  public CharacterSet bareStart() {
    return CharacterSet.of('{');
  }

  @Override
  public @Nullable CallReader bareReader() {
    return new CallsReader(SHAPE, () -> new JsonCall(true));
  }

  @Override
  public GrammarNode call(Tool tool, ArgumentsGrammar arguments) {
    return CallNotation.json(tool, "parameters", arguments);
  }

  @Override
  public GrammarNode calls(GrammarNode call, boolean parallel, boolean bare) {
    GrammarNode marker = bare ? optional(text(MARKER)) : text(MARKER);
    return sequence(marker, CallNotation.several(call, "; ", parallel));
  }

  @Override
  public String written(List<WrittenCall> calls) {
    return calls.stream().map(call -> call.json("parameters")).collect(Collectors.joining("; "));
  }

  @Override
  public String result(String content) {
    return content;
  }

  @Override
  public String explanation() {
    return """
    To call a function, answer with a JSON object of its name and its arguments and with \
    nothing else:
    {"name": <function-name>, "parameters": <arguments-object>}\
    """;
  }
}
