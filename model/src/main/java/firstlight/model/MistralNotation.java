package firstlight.model;

import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Mistral: {@code [TOOL_CALLS][{"name": …, "arguments": {…}}, …]}, in newer models {@code
 * [TOOL_CALLS]name[ARGS]{…}} once for each call. Both are read. A list at the beginning of an
 * answer is taken for calls without the marker, too.
 */
final class MistralNotation implements CallNotation {
  private static final String MARKER = "[TOOL_CALLS]";
  private static final String ARGUMENTS = "[ARGS]";
  private static final CallsReader.Shape SHAPE = new CallsReader.Shape(true, false, "", "");

  private final boolean named;

  /**
   * @param named whether calls are written in the newer way
   */
  MistralNotation(boolean named) {
    this.named = named;
  }

  @Override
  public List<String> markers() {
    return List.of(MARKER);
  }

  @Override
  public CallReader reader() {
    return new EitherReader(
        '[', new CallsReader(SHAPE, () -> new JsonCall(false)), new NamedCallReader());
  }

  @Override
  public CharacterSet bareStart() {
    return CharacterSet.of('[');
  }

  @Override
  public @Nullable CallReader bareReader() {
    return new CallsReader(SHAPE, () -> new JsonCall(true));
  }

  @Override
  public GrammarNode call(Tool tool, ArgumentsGrammar arguments) {
    if (!named) {
      return CallNotation.json(tool, "arguments", arguments);
    }
    if (!tool.name().chars().allMatch(c -> NamedCallReader.isNameCharacter((char) c))) {
      throw new InvalidGrammar("its name has characters that no name has in a call");
    }
    return sequence(text(tool.name() + ARGUMENTS), arguments.object(tool));
  }

  @Override
  public GrammarNode calls(GrammarNode call, boolean parallel, boolean bare) {
    if (named) {
      return CallNotation.several(sequence(text(MARKER), call), "", parallel);
    }
    GrammarNode marker = bare ? optional(text(MARKER)) : text(MARKER);
    return sequence(marker, text("["), CallNotation.several(call, ", ", parallel), text("]"));
  }

  @Override
  public String written(List<WrittenCall> calls) {
    if (named) {
      return calls.stream()
          .map(call -> MARKER + call.name() + ARGUMENTS + call.argumentsJson())
          .collect(Collectors.joining());
    }
    return calls.stream()
        .map(call -> call.json("arguments"))
        .collect(Collectors.joining(", ", MARKER + "[", "]"));
  }

  @Override
  public String result(String content) {
    return "[TOOL_RESULTS]" + content + "[/TOOL_RESULTS]";
  }

  @Override
  public String explanation() {
    return """
    To call functions, answer with their names and arguments as a list of JSON objects:
    [TOOL_CALLS][{"name": <function-name>, "arguments": <arguments-object>}]\
    """;
  }
}
