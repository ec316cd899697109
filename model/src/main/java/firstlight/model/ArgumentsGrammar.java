package firstlight.model;

import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What the arguments of calls may be, as their tools' schemas say. For one grammar. */
final class ArgumentsGrammar {
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,200}");
  private static final CharacterSet LETTERS =
      CharacterSet.range('a', 'z').union(CharacterSet.range('A', 'Z')).union(CharacterSet.of('_'));
  private static final CharacterSet DIGITS = CharacterSet.range('0', '9');
  private static final GrammarNode COMMA = text(", ");

  private final Map<String, GrammarNode> rules;
  private final boolean strict;
  private int tools;
  private int others;

  /**
   * @param rules gets what is needed
   * @param strict whether schemas are kept to of tools that do not ask for it, too
   */
  ArgumentsGrammar(Map<String, GrammarNode> rules, boolean strict) {
    this.rules = rules;
    this.strict = strict;
  }

  /**
   * A JSON object.
   *
   * @throws InvalidGrammar the tool's schema cannot be kept to
   */
  GrammarNode object(Tool tool) {
    return isKept(tool)
        ? SchemaGrammar.into(rules, "tool" + tools++ + "-", schema(tool))
        : JsonGrammar.OBJECT;
  }

  /**
   * Named arguments: {@code name=value, …}, the values as in JSON.
   *
   * @throws InvalidGrammar the tool's schema cannot be kept to in this way
   */
  GrammarNode named(Tool tool) {
    List<OrderedPairs.Pair> pairs = new ArrayList<>();
    if (!isKept(tool)) {
      return new OrderedPairs(pairs, COMMA, anyNamed()).node(this::rule);
    }
    Map<String, Object> schema = schema(tool);
    SchemaNode node = SchemaNode.of(schema, "#");
    Set<String> claims = node.claims("type", "properties", "required", "additionalProperties");
    if (!claims.isEmpty()) {
      throw node.wrong("%s is not supported for named arguments".formatted(claims));
    }
    Map<String, GrammarNode> values =
        SchemaGrammar.propertiesInto(rules, "tool" + tools++ + "-", schema);
    Set<String> required = node.names("required");
    required.forEach(name -> values.putIfAbsent(name, JsonGrammar.VALUE));
    values.forEach(
        (name, value) -> {
          if (IDENTIFIER.matcher(name).matches()) {
            GrammarNode pair = sequence(text(name + "="), value);
            pairs.add(new OrderedPairs.Pair(pair, required.contains(name)));
          } else if (required.contains(name)) {
            throw node.wrong(
                "%s cannot be the name of an argument".formatted(InvalidModelFile.shown(name)));
          }
        });
    return new OrderedPairs(pairs, COMMA, null).node(this::rule);
  }

  private boolean isKept(Tool tool) {
    return strict || tool.strict();
  }

  private static GrammarNode anyNamed() {
    return sequence(
        new GrammarNode.Character(LETTERS),
        new GrammarNode.Repeat(new GrammarNode.Character(LETTERS.union(DIGITS)), 0, 63),
        text("="),
        JsonGrammar.VALUE);
  }

  private GrammarNode rule(GrammarNode node) {
    String name = "named" + others++;
    rules.put(name, node);
    return new GrammarNode.Reference(name);
  }

  /** Arguments are an object, even where a schema does not say so. */
  private static Map<String, Object> schema(Tool tool) {
    Map<String, Object> schema = new LinkedHashMap<>(tool.parameters());
    Object type = schema.getOrDefault("type", "object");
    if (!type.equals("object") && !(type instanceof List<?> types && types.contains("object"))) {
      throw new InvalidGrammar("schema at #: arguments are an object, so its type must be object");
    }
    schema.put("type", "object");
    return schema;
  }
}
