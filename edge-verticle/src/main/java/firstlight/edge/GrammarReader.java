package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.model.Grammar;
import firstlight.model.InvalidGrammar;
import firstlight.model.SchemaGrammar;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

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
   * In GBNF; empty: the text may be anything.
   *
   * @throws MeshException it cannot be kept to, with the reason; or more than one thing is asked
   *     for
   */
  String read(Fields fields) {
    List<Grammar> grammars = new ArrayList<>();
    fields.object(FORMAT).flatMap(format -> format(format)).ifPresent(grammars::add);
    fields.object(STRUCTURED).ifPresent(outputs -> grammars.add(structured(outputs)));
    for (String kind : KINDS) {
      guided(fields, "guided_" + kind, kind).ifPresent(grammars::add);
    }
    if (grammars.size() > 1) {
      throw fields.refused(
          FORMAT, "can not be kept to together with structured_outputs or guided_*: give one");
    }
    return grammars.isEmpty() ? "" : grammars.getFirst().toString();
  }

  /**
   * The grammar of a schema.
   *
   * @param param is blamed if there is none
   */
  String schema(JsonNode schema, String param) {
    return kept(param, () -> SchemaGrammar.of(json.plain(schema))).toString();
  }

  /** Runs what makes a grammar; what is wrong with it is told to the client. */
  static Grammar kept(String param, Supplier<Grammar> grammar) {
    try {
      return grammar.get();
    } catch (InvalidGrammar e) {
      throw MeshException.invalid(
          "%s cannot be kept to: %s.".formatted(param, e.getMessage()), param);
    }
  }

  private Optional<Grammar> format(Fields format) {
    return switch (format.requiredText("type")) {
      case "text" -> Optional.empty();
      // llama.cpp's form of it may have a schema.
      case "json_object" ->
          Optional.of(
              format
                  .any("schema")
                  .map(schema -> kept(FORMAT, () -> SchemaGrammar.of(json.plain(schema))))
                  .orElseGet(SchemaGrammar::anyObject));
      case "json_schema" -> Optional.of(schemaFormat(format));
      default -> throw format.refused("type", "must be text, json_object or json_schema");
    };
  }

  private Grammar schemaFormat(Fields format) {
    Fields named = format.object("json_schema").orElseThrow(() -> format.missing("json_schema"));
    named.text("name");
    named.text("description");
    named.flag("strict");
    JsonNode schema = named.any("schema").orElseThrow(() -> named.missing("schema"));
    named.require(
        schema.isObject() || schema.isBoolean(), "schema", "must be a JSON Schema: an object");
    return kept(FORMAT, () -> SchemaGrammar.of(json.plain(schema)));
  }

  private Grammar structured(Fields outputs) {
    List<Grammar> grammars = new ArrayList<>();
    KINDS.forEach(kind -> guided(outputs, kind, kind).ifPresent(grammars::add));
    if (outputs.flag("json_object", false)) {
      grammars.add(SchemaGrammar.anyObject());
    }
    if (grammars.size() != 1) {
      throw MeshException.invalid(
          STRUCTURED + " must have one of json, json_object, regex, choice and grammar.",
          STRUCTURED);
    }
    return grammars.getFirst();
  }

  private Optional<Grammar> guided(Fields fields, String name, String kind) {
    String param = fields.param(name);
    if (!fields.has(name)) {
      return Optional.empty();
    }
    return Optional.of(
        switch (kind) {
          case "json" -> {
            JsonNode schema = fields.any(name).orElseThrow();
            JsonNode value = schema.isTextual() ? parsed(fields, name) : schema;
            yield kept(param, () -> SchemaGrammar.of(json.plain(value)));
          }
          case "regex" -> {
            String expression = fields.requiredText(name);
            yield kept(param, () -> Grammar.ofRegex(expression));
          }
          case "choice" -> {
            List<String> texts = fields.texts(name, CHOICES_MAX);
            yield kept(param, () -> Grammar.ofTexts(texts));
          }
          default -> {
            String source = fields.requiredText(name);
            yield kept(param, () -> Grammar.parse(source));
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
