package firstlight.model;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One schema object and where it stands, read with care: a keyword of a wrong type is refused by
 * its place.
 *
 * @param keywords by name, in order
 */
record SchemaNode(Map<String, Object> keywords, String place) {
  /** Keywords that say something about no value. */
  private static final Set<String> NOTES =
      Set.of(
          "$schema",
          "$id",
          "$comment",
          "$defs",
          "definitions",
          "title",
          "description",
          "default",
          "examples",
          "deprecated",
          "readOnly",
          "writeOnly",
          "contentEncoding",
          "contentMediaType",
          "contentSchema");

  /** Keywords that say something about values, and which are not supported. */
  private static final Set<String> UNSUPPORTED =
      Set.of(
          "not",
          "if",
          "then",
          "else",
          "contains",
          "minContains",
          "maxContains",
          "dependentRequired",
          "dependentSchemas",
          "dependencies",
          "unevaluatedProperties",
          "unevaluatedItems",
          "additionalItems",
          "$anchor",
          "$dynamicRef",
          "$dynamicAnchor",
          "$recursiveRef",
          "$vocabulary");

  /** Which type a keyword is about. */
  private static final Map<String, String> TYPES = typesOfWords();

  private static Map<String, String> typesOfWords() {
    Map<String, String> types = new HashMap<>();
    for (String word :
        List.of(
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties")) {
      types.put(word, "object");
    }
    for (String word : List.of("items", "prefixItems", "minItems", "maxItems", "uniqueItems")) {
      types.put(word, "array");
    }
    for (String word : List.of("minLength", "maxLength", "pattern", "format")) {
      types.put(word, "string");
    }
    for (String word :
        List.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) {
      types.put(word, "number");
    }
    return types;
  }

  /**
   * @throws InvalidGrammar it is no schema, or says what is not supported
   */
  @SuppressWarnings("unchecked")
  static SchemaNode of(@Nullable Object schema, String place) {
    if (schema instanceof Boolean all) {
      if (all) {
        return new SchemaNode(Map.of(), place);
      }
      throw wrong(place, "false allows no value");
    }
    if (!(schema instanceof Map)) {
      throw wrong(place, "a schema must be an object or a boolean");
    }
    SchemaNode node = new SchemaNode((Map<String, Object>) schema, place);
    for (String word : node.keywords.keySet()) {
      if (UNSUPPORTED.contains(word)) {
        throw node.wrong("the keyword %s is not supported".formatted(word));
      }
    }
    return node;
  }

  boolean has(String keyword) {
    return keywords.containsKey(keyword);
  }

  @Nullable Object get(String keyword) {
    return keywords.get(keyword);
  }

  /** The keywords that say something about values, without these. */
  Set<String> claims(String... without) {
    Set<String> claims = new HashSet<>(keywords.keySet());
    claims.removeAll(NOTES);
    claims.removeAll(Set.of(without));
    claims.removeIf(word -> !TYPES.containsKey(word) && !OTHERS.contains(word));
    return claims;
  }

  private static final Set<String> OTHERS =
      Set.of("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "nullable");

  /** The names of the types it allows, by {@code type} or by what else it says; empty: all. */
  Set<String> types() {
    Object type = keywords.get("type");
    Set<String> named = new LinkedHashSet<>();
    switch (type) {
      case null -> claims().stream().sorted().forEach(word -> addType(word, named));
      case String one -> named.add(one);
      case List<?> several -> {
        for (Object one : several) {
          if (!(one instanceof String name)) {
            throw wrong("type must be a string or a list of strings");
          }
          named.add(name);
        }
      }
      default -> throw wrong("type must be a string or a list of strings");
    }
    if (type != null && named.isEmpty()) {
      throw wrong("type must name a type");
    }
    if (Boolean.TRUE.equals(keywords.get("nullable")) && !named.isEmpty()) {
      named.add("null");
    }
    return named;
  }

  private static void addType(String word, Set<String> named) {
    String type = TYPES.get(word);
    if (type != null) {
      named.add(type);
    }
  }

  SchemaNode child(String keyword) {
    return of(keywords.get(keyword), place + "/" + keyword);
  }

  /** The schemas of a keyword that has several by name. */
  Map<String, SchemaNode> children(String keyword) {
    Map<String, SchemaNode> children = new LinkedHashMap<>();
    Object value = keywords.getOrDefault(keyword, Map.of());
    if (!(value instanceof Map<?, ?> map)) {
      throw wrong(keyword + " must be an object");
    }
    map.forEach(
        (name, schema) ->
            children.put((String) name, of(schema, place + "/" + keyword + "/" + name)));
    return children;
  }

  /** The schemas of a keyword that has a list of them, at least one. */
  List<SchemaNode> list(String keyword) {
    if (!(keywords.get(keyword) instanceof List<?> schemas) || schemas.isEmpty()) {
      throw wrong(keyword + " must be a list of at least one schema");
    }
    List<SchemaNode> list = new ArrayList<>();
    for (int i = 0; i < schemas.size(); i++) {
      list.add(of(schemas.get(i), place + "/" + keyword + "/" + i));
    }
    return list;
  }

  Set<String> names(String keyword) {
    Set<String> names = new LinkedHashSet<>();
    if (!(keywords.getOrDefault(keyword, List.of()) instanceof List<?> list)) {
      throw wrong(keyword + " must be a list of strings");
    }
    for (Object name : list) {
      if (!(name instanceof String text)) {
        throw wrong(keyword + " must be a list of strings");
      }
      names.add(text);
    }
    return names;
  }

  /** A number that counts something. */
  int count(String keyword, int otherwise) {
    Object value = keywords.get(keyword);
    if (value == null) {
      return otherwise;
    }
    BigDecimal number = value instanceof Number any ? new BigDecimal(any.toString()) : null;
    if (number == null
        || number.signum() < 0
        || number.stripTrailingZeros().scale() > 0
        || number.compareTo(new BigDecimal(COUNT_MAX)) > 0) {
      throw wrong("%s must be an integer from 0 to %d".formatted(keyword, COUNT_MAX));
    }
    return number.intValue();
  }

  private static final int COUNT_MAX = 100_000;

  @Nullable BigDecimal number(String keyword) {
    Object value = keywords.get(keyword);
    if (value == null) {
      return null;
    }
    if (!(value instanceof Number number)) {
      throw wrong(keyword + " must be a number");
    }
    BigDecimal decimal = new BigDecimal(number.toString());
    if (Math.abs((long) decimal.precision() - decimal.scale()) > 400 || decimal.scale() > 400) {
      throw wrong(keyword + " is out of reach");
    }
    return decimal;
  }

  InvalidGrammar wrong(String reason) {
    return wrong(place, reason);
  }

  private static InvalidGrammar wrong(String place, String reason) {
    return new InvalidGrammar("schema at %s: %s".formatted(place, reason));
  }
}
