package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.model.Grammar;
import firstlight.model.SchemaGrammar;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads what the text of an answer must keep to: OpenAI's {@code response_format}, and vLLM's
 * {@code structured_outputs} and {@code guided_json}, {@code guided_regex}, {@code guided_choice},
 * {@code guided_grammar}. Thread-safe.
 */
final class GrammarReader {
  private static final String FORMAT = "response_format";
  private static final String STRUCTURED = "structured_outputs";
  private static final List<String> KINDS = List.of("json", "regex", "choice", "grammar");
  private static final int CHOICES_MAX = 1_024;

  private final Json json;

  GrammarReader(Json json) {
    this.json = json;
  }

  /**
   * Empty: the text may be anything.
   *
   * @throws MeshException a field is wrong, or more than one thing is asked for
   */
  Optional<TextForm> read(Fields fields) {
    List<TextForm> forms = new ArrayList<>();
    fields.object(FORMAT).flatMap(this::format).ifPresent(forms::add);
    fields.object(STRUCTURED).ifPresent(outputs -> forms.add(structured(outputs)));
    for (String kind : KINDS) {
      guided(fields, "guided_" + kind, kind).ifPresent(forms::add);
    }
    if (forms.size() > 1) {
      throw fields.refused(
          FORMAT, "can not be kept to together with structured_outputs or guided_*: give one");
    }
    return forms.stream().findFirst();
  }

  /**
   * Of a JSON Schema.
   *
   * @param param the field that asks for it
   */
  TextForm schema(JsonNode schema, String param) {
    return new TextForm(param, () -> SchemaGrammar.of(json.plain(schema)));
  }

  /** Any JSON object. */
  static TextForm anyObject(String param) {
    return new TextForm(param, SchemaGrammar::anyObject);
  }

  private Optional<TextForm> format(Fields format) {
    return switch (format.requiredText("type")) {
      case "text" -> Optional.empty();
      // llama.cpp's form of it may have a schema.
      case "json_object" ->
          Optional.of(
              format
                  .any("schema")
                  .map(schema -> schema(schema, FORMAT))
                  .orElseGet(() -> anyObject(FORMAT)));
      case "json_schema" -> Optional.of(schemaFormat(format));
      default -> throw format.refused("type", "must be text, json_object or json_schema");
    };
  }

  private TextForm schemaFormat(Fields format) {
    Fields named = format.object("json_schema").orElseThrow(() -> format.missing("json_schema"));
    named.text("name");
    named.text("description");
    named.flag("strict");
    JsonNode schema = named.any("schema").orElseThrow(() -> named.missing("schema"));
    named.require(
        schema.isObject() || schema.isBoolean(), "schema", "must be a JSON Schema: an object");
    return schema(schema, FORMAT);
  }

  private TextForm structured(Fields outputs) {
    List<TextForm> forms = new ArrayList<>();
    KINDS.forEach(kind -> guided(outputs, kind, kind).ifPresent(forms::add));
    if (outputs.flag("json_object", false)) {
      forms.add(anyObject(outputs.param("json_object")));
    }
    if (forms.size() != 1) {
      throw MeshException.invalid(
          STRUCTURED + " must have one of json, json_object, regex, choice and grammar.",
          STRUCTURED);
    }
    return forms.getFirst();
  }

  private Optional<TextForm> guided(Fields fields, String name, String kind) {
    if (!fields.has(name)) {
      return Optional.empty();
    }
    String param = fields.param(name);
    return Optional.of(
        switch (kind) {
          case "json" -> {
            JsonNode schema = fields.any(name).orElseThrow();
            yield schema(schema.isTextual() ? parsed(fields, name) : schema, param);
          }
          case "regex" -> {
            String expression = fields.requiredText(name);
            yield new TextForm(param, () -> Grammar.ofRegex(expression));
          }
          case "choice" -> {
            List<String> texts = fields.texts(name, CHOICES_MAX);
            yield new TextForm(param, () -> Grammar.ofTexts(texts));
          }
          default -> {
            String source = fields.requiredText(name);
            yield new TextForm(param, () -> Grammar.parse(source));
          }
        });
  }

  private JsonNode parsed(Fields fields, String name) {
    try {
      return json.value(fields.requiredText(name));
    } catch (MeshException e) {
      throw fields.refused(name, "is not JSON");
    }
  }
}
