package firstlight.model;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** Makes one schema of two that both must hold, where that can be said in one. */
final class SchemaMerge {
  private static final Set<String> LOWER =
      Set.of("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties");
  private static final Set<String> UPPER =
      Set.of("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties");

  private SchemaMerge() {}

  static SchemaNode allOf(SchemaNode schema, SchemaGrammar grammar) {
    List<SchemaNode> all = schema.list("allOf");
    SchemaNode merged = both(schema, "allOf", all.getFirst(), grammar);
    for (SchemaNode next : all.subList(1, all.size())) {
      merged = both(merged, "", next, grammar);
    }
    return merged;
  }

  /**
   * A schema without one of its keywords, and another that is what the keyword leads to.
   *
   * @throws InvalidGrammar they cannot be said in one, or contradict each other
   */
  static SchemaNode both(
      SchemaNode schema, String without, SchemaNode other, SchemaGrammar grammar) {
    if (schema.claims(without).isEmpty()) {
      return other;
    }
    SchemaNode second = other.has("$ref") ? resolved(other, grammar) : other;
    Map<String, Object> first = new LinkedHashMap<>(schema.keywords());
    first.remove(without);
    SchemaNode base = new SchemaNode(first, schema.place());
    if (base.has("$ref")) {
      base = resolved(base, grammar);
      first = new LinkedHashMap<>(base.keywords());
    }
    Map<String, Object> merged = new LinkedHashMap<>(first);
    for (Map.Entry<String, Object> entry : second.keywords().entrySet()) {
      String word = entry.getKey();
      Object own = first.get(word);
      merged.put(word, own == null ? entry.getValue() : joined(base, word, own, entry.getValue()));
    }
    closeProperties(merged, base, second);
    closeProperties(merged, second, base);
    if (base.has("type") || second.has("type")) {
      merged.put("type", commonTypes(base, second));
    }
    return new SchemaNode(merged, other.place());
  }

  private static SchemaNode resolved(SchemaNode schema, SchemaGrammar grammar) {
    SchemaNode target = grammar.target(schema);
    return schema.claims("$ref").isEmpty() ? target : both(schema, "$ref", target, grammar);
  }

  private static Object joined(SchemaNode place, String word, Object one, Object other) {
    if (one.equals(other)
        || word.equals("type")
        || place.claims().stream().noneMatch(word::equals)) {
      return one;
    }
    if (LOWER.contains(word) || UPPER.contains(word)) {
      return stricter(place, word, one, other);
    }
    return switch (word) {
      case "required" -> union(one, other, place);
      case "properties" -> properties(one, other, place);
      case "items" -> Map.of("allOf", List.of(one, other));
      case "enum" -> common(one, other, place);
      case "additionalProperties" ->
          Boolean.FALSE.equals(one) || Boolean.FALSE.equals(other)
              ? Boolean.FALSE
              : Map.of("allOf", List.of(one, other));
      default -> throw place.wrong("%s stands in two schemas that both must hold".formatted(word));
    };
  }

  private static Object stricter(SchemaNode place, String word, Object one, Object other) {
    if (!(one instanceof Number) || !(other instanceof Number)) {
      throw place.wrong(word + " must be a number");
    }
    int order = new BigDecimal(one.toString()).compareTo(new BigDecimal(other.toString()));
    return order >= 0 == LOWER.contains(word) ? one : other;
  }

  private static List<Object> union(Object one, Object other, SchemaNode place) {
    Set<Object> all = new LinkedHashSet<>(list(one, place));
    all.addAll(list(other, place));
    return List.copyOf(all);
  }

  private static List<Object> common(Object one, Object other, SchemaNode place) {
    List<Object> common = new ArrayList<>(list(one, place));
    common.retainAll(list(other, place));
    return common;
  }

  private static Collection<?> list(Object value, SchemaNode place) {
    if (value instanceof List<?> list) {
      return list;
    }
    throw place.wrong("a list is expected");
  }

  private static Map<Object, Object> properties(Object one, Object other, SchemaNode place) {
    if (!(one instanceof Map<?, ?> first) || !(other instanceof Map<?, ?> second)) {
      throw place.wrong("properties must be an object");
    }
    Map<Object, Object> all = new LinkedHashMap<>(first);
    second.forEach(
        (name, schema) -> all.merge(name, schema, (a, b) -> Map.of("allOf", List.of(a, b))));
    return all;
  }

  /** Where one of the two allows no others, the other's properties cannot be there. */
  private static void closeProperties(
      Map<String, Object> merged, SchemaNode closed, SchemaNode other) {
    if (!Boolean.FALSE.equals(closed.get("additionalProperties"))
        || !(merged.get("properties") instanceof Map<?, ?> all)) {
      return;
    }
    Set<String> own = closed.children("properties").keySet();
    Map<Object, Object> kept = new LinkedHashMap<>(all);
    kept.keySet().retainAll(own);
    for (String name : other.names("required")) {
      if (!own.contains(name)) {
        throw closed.wrong(
            "additionalProperties is false here, and another schema that must hold too requires"
                + " the property "
                + InvalidModelFile.shown(name));
      }
    }
    merged.put("properties", kept);
  }

  private static List<String> commonTypes(SchemaNode one, SchemaNode other) {
    UnaryOperator<Set<String>> wide =
        types -> {
          Set<String> all = new TreeSet<>(types);
          if (all.contains("number")) {
            all.add("integer");
          }
          return all;
        };
    Set<String> first = one.has("type") ? one.types() : other.types();
    Set<String> second = other.has("type") ? other.types() : one.types();
    Set<String> common = wide.apply(first);
    common.retainAll(wide.apply(second));
    if (common.isEmpty()) {
      throw other.wrong("no type is allowed by all schemas that must hold");
    }
    return List.copyOf(common);
  }

  /** Whether no value can be allowed by two of the schemas, as far as is seen easily. */
  static boolean areDisjoint(List<SchemaNode> schemas, SchemaGrammar grammar) {
    List<SchemaNode> known =
        schemas.stream()
            .map(schema -> schema.has("$ref") ? resolved(schema, grammar) : schema)
            .toList();
    for (int i = 0; i < known.size(); i++) {
      for (SchemaNode other : known.subList(i + 1, known.size())) {
        if (!areDisjoint(known.get(i), other)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean areDisjoint(SchemaNode one, SchemaNode other) {
    Set<Object> values = values(one);
    Set<Object> others = values(other);
    if (!values.isEmpty() && !others.isEmpty()) {
      return apart(values, others);
    }
    if (one.has("type") && other.has("type") && apart(types(one), types(other))) {
      return true;
    }
    // A value that is no object may be allowed by both, unless both say that it must be one.
    boolean objects =
        one.types().equals(Set.of("object")) && other.types().equals(Set.of("object"));
    Set<String> required = new HashSet<>(one.names("required"));
    required.retainAll(other.names("required"));
    return objects
        && required.stream()
            .anyMatch(name -> apart(propertyValues(one, name), propertyValues(other, name)));
  }

  private static Set<Object> propertyValues(SchemaNode schema, String name) {
    SchemaNode property = schema.children("properties").get(name);
    return property == null ? Set.of() : values(property);
  }

  private static boolean apart(Set<?> some, Set<?> others) {
    return !some.isEmpty() && !others.isEmpty() && some.stream().noneMatch(others::contains);
  }

  private static Set<String> types(SchemaNode schema) {
    Set<String> types = new HashSet<>(schema.types());
    if (types.remove("integer")) {
      types.add("number");
    }
    return types;
  }

  private static Set<Object> values(SchemaNode schema) {
    if (schema.has("const")) {
      return Set.of(JsonText.of(schema.get("const")));
    }
    Set<Object> values = new HashSet<>();
    if (schema.get("enum") instanceof List<?> list) {
      list.forEach(value -> values.add(JsonText.of(value)));
    }
    return values;
  }
}
