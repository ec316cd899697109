package firstlight.model;

import static firstlight.model.GrammarNode.EMPTY;
import static firstlight.model.GrammarNode.MANY;
import static firstlight.model.GrammarNode.sequence;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Objects of a JSON Schema: the named properties in their order, then any others. */
final class SchemaObjects {
  private static final GrammarNode COMMA = sequence(JsonGrammar.SPACE, JsonGrammar.comma());

  private final SchemaGrammar grammar;

  SchemaObjects(SchemaGrammar grammar) {
    this.grammar = grammar;
  }

  GrammarNode object(SchemaNode schema) {
    Map<String, SchemaNode> named = new LinkedHashMap<>(schema.children("properties"));
    Set<String> required = schema.names("required");
    for (String name : required) {
      // Whatever may stand for a property that has to be there and is not described.
      named.computeIfAbsent(name, _ -> SchemaNode.of(undescribed(schema, name), schema.place()));
    }
    List<OrderedPairs.Pair> pairs = new ArrayList<>();
    named.forEach(
        (name, property) ->
            pairs.add(new OrderedPairs.Pair(pair(name, property), required.contains(name))));
    GrammarNode others = others(schema, named.keySet());
    checkCounts(schema, pairs, others);
    if (pairs.isEmpty()) {
      return counted(schema, others);
    }
    return JsonGrammar.inBrackets(
        "{", new OrderedPairs(pairs, COMMA, others).node(grammar::rule), "}");
  }

  private static Object undescribed(SchemaNode schema, String name) {
    Object others = schema.get("additionalProperties");
    if (Boolean.FALSE.equals(others)) {
      throw schema.wrong(
          "the required property %s is not described, and additionalProperties is false"
              .formatted(InvalidModelFile.shown(name)));
    }
    return others == null ? true : others;
  }

  private GrammarNode pair(String name, SchemaNode property) {
    return sequence(
        GrammarNode.text("\"" + JsonGrammar.escaped(name) + "\""),
        JsonGrammar.colon(),
        grammar.rule(grammar.value(property)));
  }

  /** A pair that is not named; null: there are none. */
  private @Nullable GrammarNode others(SchemaNode schema, Set<String> named) {
    Object others = schema.get("additionalProperties");
    if (schema.has("patternProperties")) {
      return patterns(schema, named);
    }
    boolean wanted = others != null && !Boolean.FALSE.equals(others);
    if (!wanted && (others != null || !named.isEmpty() || schema.has("properties"))) {
      return null;
    }
    GrammarNode value =
        wanted
            ? grammar.rule(grammar.value(schema.child("additionalProperties")))
            : JsonGrammar.VALUE;
    return sequence(names(schema, named), JsonGrammar.colon(), value);
  }

  private GrammarNode names(SchemaNode schema, Set<String> named) {
    if (!schema.has("propertyNames")) {
      return named.isEmpty()
          ? JsonGrammar.STRING
          : grammar.rule(OtherNames.than(named, grammar::rule));
    }
    if (!named.isEmpty()) {
      throw schema.wrong("propertyNames together with properties is not supported");
    }
    SchemaNode names = schema.child("propertyNames");
    return names.claims().isEmpty() ? JsonGrammar.STRING : grammar.rule(grammar.nameOf(names));
  }

  private GrammarNode patterns(SchemaNode schema, Set<String> named) {
    Map<String, SchemaNode> patterns = schema.children("patternProperties");
    if (patterns.size() != 1 || !named.isEmpty() || schema.has("propertyNames")) {
      throw schema.wrong(
          "patternProperties is supported with one pattern, and without other properties");
    }
    Map.Entry<String, SchemaNode> only = patterns.entrySet().iterator().next();
    GrammarNode name = JsonGrammar.quoted(JsonGrammar.inString(RegexParser.found(only.getKey())));
    return sequence(
        grammar.rule(name), JsonGrammar.colon(), grammar.rule(grammar.value(only.getValue())));
  }

  /** An object of nothing but others: as many as asked for. */
  private static GrammarNode counted(SchemaNode schema, @Nullable GrammarNode others) {
    int min = schema.count("minProperties", 0);
    GrammarNode pairs =
        others == null ? EMPTY : JsonGrammar.list(others, min, schema.count("maxProperties", MANY));
    return JsonGrammar.inBrackets("{", pairs, "}");
  }

  private static void checkCounts(
      SchemaNode schema, List<OrderedPairs.Pair> pairs, @Nullable GrammarNode others) {
    int min = schema.count("minProperties", 0);
    int max = schema.count("maxProperties", MANY);
    long required = pairs.stream().filter(OrderedPairs.Pair::required).count();
    // The same name might come twice, and count once.
    if (pairs.isEmpty() && others != null && min <= 1 && (max == MANY || max >= min)) {
      return;
    }
    if (min > required || max != MANY && (max < pairs.size() || others != null)) {
      throw schema.wrong(
          "minProperties and maxProperties are supported where the named properties keep to them"
              + " anyway");
    }
  }
}
