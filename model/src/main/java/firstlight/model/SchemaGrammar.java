package firstlight.model;

import static firstlight.model.GrammarNode.MANY;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a grammar of a JSON Schema, draft 2020-12: every text of the grammar is JSON that the
 * schema allows. Not every value that the schema allows is a text of the grammar: properties come
 * in the order of the schema, and only those it names unless it asks for others; numbers with
 * bounds have no exponent. What cannot be kept to is refused. For one schema.
 */
public final class SchemaGrammar {
  private static final int DEPTH_MAX = 100;

  private final Object root;
  private final String prefix;
  private final Map<String, GrammarNode> rules = new LinkedHashMap<>();
  private final Map<String, String> references = new HashMap<>();
  private final SchemaObjects objects = new SchemaObjects(this);
  private int names;
  private int depth;

  private SchemaGrammar(Object root, String prefix) {
    this.root = root;
    this.prefix = prefix;
  }

  /**
   * @param schema of maps, lists, strings, numbers and booleans; a boolean is a schema too
   * @throws InvalidGrammar it is no schema, or cannot be kept to; with the place and the reason
   */
  public static Grammar of(Object schema) {
    SchemaGrammar grammar = new SchemaGrammar(schema, "");
    GrammarNode value = grammar.value(SchemaNode.of(schema, "#"));
    return grammar.grammar(value);
  }

  /** Any JSON object. */
  public static Grammar anyObject() {
    return new SchemaGrammar(true, "").grammar(JsonGrammar.OBJECT);
  }

  /**
   * As a part of a larger grammar.
   *
   * @param rules gets those of the schema, without {@linkplain JsonGrammar#addNeeded JSON's own}
   * @param prefix of their names
   * @return the values that the schema allows
   * @throws InvalidGrammar as {@link #of}
   */
  static GrammarNode into(Map<String, GrammarNode> rules, String prefix, Object schema) {
    SchemaGrammar grammar = new SchemaGrammar(schema, prefix);
    GrammarNode value = grammar.rule(grammar.value(SchemaNode.of(schema, "#")));
    rules.putAll(grammar.rules);
    return value;
  }

  /** As {@link #into}, for the values of each of the properties of an object's schema. */
  static Map<String, GrammarNode> propertiesInto(
      Map<String, GrammarNode> rules, String prefix, Object schema) {
    SchemaGrammar grammar = new SchemaGrammar(schema, prefix);
    Map<String, GrammarNode> values = new LinkedHashMap<>();
    SchemaNode.of(schema, "#")
        .children("properties")
        .forEach((name, child) -> values.put(name, grammar.rule(grammar.value(child))));
    rules.putAll(grammar.rules);
    return values;
  }

  private Grammar grammar(GrammarNode value) {
    Map<String, GrammarNode> all = new LinkedHashMap<>();
    all.put(Grammar.ROOT, value);
    all.putAll(rules);
    JsonGrammar.addNeeded(all);
    return new Grammar(all);
  }

  /** A rule of its own for a node, so that what is used many times is there once. */
  GrammarNode rule(GrammarNode node) {
    if (node instanceof GrammarNode.Reference) {
      return node;
    }
    String name = prefix + "r" + names++;
    rules.put(name, node);
    return new GrammarNode.Reference(name);
  }

  /** The JSON values that a schema allows. */
  GrammarNode value(SchemaNode schema) {
    if (++depth > DEPTH_MAX) {
      throw schema.wrong("schemas are nested deeper than %d".formatted(DEPTH_MAX));
    }
    GrammarNode node = anyOf(schema);
    depth--;
    return node;
  }

  private GrammarNode anyOf(SchemaNode schema) {
    if (schema.has("$ref")) {
      return reference(schema);
    }
    if (schema.has("allOf")) {
      return value(SchemaMerge.allOf(schema, this));
    }
    if (schema.has("const")) {
      return constants(schema, Collections.singletonList(schema.get("const")), "const");
    }
    if (schema.has("enum")) {
      if (!(schema.get("enum") instanceof List<?> values) || values.isEmpty()) {
        throw schema.wrong("enum must be a list of at least one value");
      }
      return constants(schema, values, "enum");
    }
    if (schema.has("anyOf") || schema.has("oneOf")) {
      return options(schema);
    }
    return byType(schema);
  }

  private GrammarNode options(SchemaNode schema) {
    String word = schema.has("anyOf") ? "anyOf" : "oneOf";
    if (schema.has("anyOf") && schema.has("oneOf")) {
      throw schema.wrong("anyOf and oneOf together are not supported");
    }
    List<SchemaNode> options = new ArrayList<>();
    for (SchemaNode option : schema.list(word)) {
      options.add(SchemaMerge.both(schema, word, option, this));
    }
    if (word.equals("oneOf") && !SchemaMerge.areDisjoint(options, this)) {
      throw schema.wrong(
          "oneOf is supported where its options differ in type, or in a required property that"
              + " has one value in each; use anyOf");
    }
    return GrammarNode.choice(options.stream().map(this::value).toList());
  }

  /** A schema elsewhere in the document: a rule, so that it may contain itself. */
  private GrammarNode reference(SchemaNode schema) {
    SchemaNode target = target(schema);
    if (!schema.claims("$ref").isEmpty()) {
      return value(SchemaMerge.both(schema, "$ref", target, this));
    }
    String known = references.get(target.place());
    if (known == null) {
      known = prefix + "r" + names++;
      references.put(target.place(), known);
      // Its place among the rules, before those that it needs.
      rules.put(known, GrammarNode.EMPTY);
      rules.put(known, value(target));
    }
    return new GrammarNode.Reference(known);
  }

  /** What a reference means: a JSON pointer into this document (RFC 6901). */
  SchemaNode target(SchemaNode schema) {
    if (!(schema.get("$ref") instanceof String pointer) || !pointer.startsWith("#")) {
      throw schema.wrong("$ref must begin with #: only this schema itself can be referred to");
    }
    Object value = root;
    for (String part : pointer.substring(1).split("/")) {
      if (!part.isEmpty()) {
        value = step(value, part.replace("~1", "/").replace("~0", "~"));
      }
    }
    if (value == null) {
      throw schema.wrong("there is nothing at " + InvalidModelFile.shown(pointer));
    }
    return SchemaNode.of(value, pointer);
  }

  private static @Nullable Object step(@Nullable Object value, String part) {
    if (value instanceof Map<?, ?> map) {
      return map.get(part);
    }
    boolean index = value instanceof List<?> && part.matches("[0-9]{1,6}");
    if (index && value instanceof List<?> list && Integer.parseInt(part) < list.size()) {
      return list.get(Integer.parseInt(part));
    }
    return null;
  }

  /** JSON strings that are names of properties as a schema allows them. */
  GrammarNode nameOf(SchemaNode schema) {
    Map<String, Object> keywords = new LinkedHashMap<>(schema.keywords());
    keywords.put("type", "string");
    return value(new SchemaNode(keywords, schema.place()));
  }

  private static GrammarNode constants(SchemaNode schema, List<?> values, String word) {
    Set<String> claims = schema.claims(word, "type", "nullable");
    if (!claims.isEmpty()) {
      throw schema.wrong("%s together with %s is not supported".formatted(word, claims));
    }
    Set<String> types = schema.has("type") ? schema.types() : Set.of();
    List<GrammarNode> options = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (Object value : values) {
      String text = JsonText.of(value);
      if ((types.isEmpty() || SchemaTypes.isOneOf(value, types)) && seen.add(text)) {
        options.add(GrammarNode.text(text));
      }
    }
    if (options.isEmpty()) {
      throw schema.wrong("no value of %s has the type".formatted(word));
    }
    return GrammarNode.choice(options);
  }

  private GrammarNode byType(SchemaNode schema) {
    Set<String> types = schema.types();
    if (types.isEmpty()) {
      return JsonGrammar.VALUE;
    }
    List<GrammarNode> options = new ArrayList<>();
    for (String type : types) {
      if (!type.equals("integer") || !types.contains("number")) {
        options.add(ofType(schema, type));
      }
    }
    return GrammarNode.choice(options);
  }

  private GrammarNode ofType(SchemaNode schema, String type) {
    return switch (type) {
      case "object" -> objects.object(schema);
      case "array" -> array(schema);
      case "string" -> SchemaTypes.string(schema);
      case "integer" -> SchemaTypes.number(schema, true);
      case "number" -> SchemaTypes.number(schema, false);
      case "boolean" -> JsonGrammar.BOOLEAN;
      case "null" -> JsonGrammar.NULL;
      default -> throw schema.wrong("there is no type " + InvalidModelFile.shown(type));
    };
  }

  private GrammarNode array(SchemaNode schema) {
    int min = schema.count("minItems", 0);
    int max = schema.count("maxItems", MANY);
    if (max != MANY && max < min) {
      throw schema.wrong("minItems is above maxItems");
    }
    if (Boolean.TRUE.equals(schema.get("uniqueItems")) && max != 1 && max != 0) {
      throw schema.wrong("uniqueItems is not supported where there may be two items");
    }
    List<GrammarNode> first = new ArrayList<>();
    if (schema.has("prefixItems")) {
      schema.list("prefixItems").forEach(item -> first.add(rule(value(item))));
    }
    boolean noOthers = Boolean.FALSE.equals(schema.get("items"));
    int others = noOthers ? 0 : max == MANY ? MANY : Math.max(0, max - first.size());
    if (noOthers && min > first.size()) {
      throw schema.wrong("minItems is above the number of prefixItems, and items is false");
    }
    GrammarNode other =
        others == 0
            ? GrammarNode.EMPTY
            : schema.has("items") ? rule(value(schema.child("items"))) : JsonGrammar.VALUE;
    return first.isEmpty()
        ? JsonGrammar.array(other, min, others)
        : tuple(first, other, min, max, others);
  }

  /** Items of their own at first; how many there are at least, and how many others, is bounded. */
  private static GrammarNode tuple(
      List<GrammarNode> first, GrammarNode other, int min, int max, int others) {
    int shown = max == MANY ? first.size() : Math.min(first.size(), max);
    GrammarNode rest =
        new GrammarNode.Repeat(
            GrammarNode.sequence(JsonGrammar.SPACE, JsonGrammar.comma(), other),
            Math.max(0, min - first.size()),
            others);
    GrammarNode items = others == 0 || shown < first.size() ? GrammarNode.EMPTY : rest;
    for (int i = shown - 1; i >= 0; i--) {
      GrammarNode item =
          i == 0
              ? first.get(i)
              : GrammarNode.sequence(JsonGrammar.SPACE, JsonGrammar.comma(), first.get(i));
      GrammarNode more = GrammarNode.sequence(item, items);
      items = i < min ? more : GrammarNode.optional(more);
    }
    return JsonGrammar.inBrackets("[", items, "]");
  }
}
