package firstlight.model;

import org.jspecify.annotations.Nullable;

/** Which format a model has, by the source of its template. */
final class FormatChoice {
  private FormatChoice() {}

  static ToolFormat of(String source) {
    CallNotation known = known(source);
    boolean reasons = source.contains(FamilyParser.THINK) || source.contains(FamilyParser.THOUGHT);
    boolean tells = known != null && source.contains("tools");
    return new FamilyFormat(
        known == null ? unknown(source) : known,
        reasons,
        tells,
        known != null && source.contains("tool_calls"));
  }

  /** The notation that the template shows. */
  private static @Nullable CallNotation known(String source) {
    if (source.contains("[TOOL_CALLS]")) {
      return new MistralNotation(source.contains("[ARGS]"));
    }
    if (source.contains("<tool_call>")) {
      return new HermesNotation();
    }
    if (source.contains("tool_code")) {
      return new PythonNotation(true);
    }
    boolean llama = source.contains("{\"name\": ") && source.contains("\"parameters\": ");
    if (llama || source.contains("<|python_tag|>")) {
      return new LlamaNotation();
    }
    return source.contains("func_name1(") ? new PythonNotation(false) : null;
  }

  private static CallNotation unknown(String source) {
    return source.contains("<start_of_turn>") ? new PythonNotation(true) : new HermesNotation();
  }
}
