package firstlight.model;

import static firstlight.model.GrammarNode.MANY;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Strings and numbers of a JSON Schema. */
final class SchemaTypes {
  private static final List<String> STRING_WORDS =
      List.of("minLength", "maxLength", "pattern", "format");

  private SchemaTypes() {}

  /** Whether a value has one of the types. */
  static boolean isOneOf(@Nullable Object value, Set<String> types) {
    return switch (value) {
      case null -> types.contains("null");
      case Boolean _ -> types.contains("boolean");
      case Number number ->
          types.contains("number")
              || types.contains("integer")
                  && new BigDecimal(number.toString()).stripTrailingZeros().scale() <= 0;
      case String _ -> types.contains("string");
      case List<?> _ -> types.contains("array");
      case Map<?, ?> _ -> types.contains("object");
      default -> false;
    };
  }

  static GrammarNode string(SchemaNode schema) {
    if (STRING_WORDS.stream().noneMatch(schema::has)) {
      return JsonGrammar.STRING;
    }
    return JsonGrammar.quoted(JsonGrammar.inString(characters(schema)));
  }

  /** The texts that a string may be. */
  static GrammarNode characters(SchemaNode schema) {
    var bounds =
        new TextLengths.Lengths(schema.count("minLength", 0), schema.count("maxLength", MANY));
    if (bounds.max() != MANY && bounds.max() < bounds.min()) {
      throw schema.wrong("minLength is above maxLength");
    }
    GrammarNode within;
    try {
      within = TextLengths.within(unbounded(schema), bounds);
    } catch (InvalidGrammar e) {
      throw schema.wrong(e.getMessage());
    }
    if (within == null) {
      throw schema.wrong("no text of that form has a length within minLength and maxLength");
    }
    return within;
  }

  private static GrammarNode unbounded(SchemaNode schema) {
    if (schema.has("pattern") && schema.has("format")) {
      throw schema.wrong("pattern together with format is not supported");
    }
    if (schema.has("format")) {
      return SchemaFormats.node(schema);
    }
    if (!schema.has("pattern")) {
      return RegexParser.ANYTHING;
    }
    if (!(schema.get("pattern") instanceof String pattern)) {
      throw schema.wrong("pattern must be a string");
    }
    return RegexParser.found(pattern);
  }

  static GrammarNode number(SchemaNode schema, boolean integer) {
    NumberRanges.Bound low = bound(schema, "minimum", "exclusiveMinimum", 1);
    NumberRanges.Bound high = bound(schema, "maximum", "exclusiveMaximum", -1);
    BigDecimal step = schema.number("multipleOf");
    if (step != null) {
      return multiples(schema, step, low, high, integer);
    }
    if (low == null && high == null) {
      return integer ? JsonGrammar.INTEGER : JsonGrammar.NUMBER;
    }
    GrammarNode range =
        integer ? NumberRanges.integers(low, high) : NumberRanges.decimals(low, high);
    if (range == null) {
      throw schema.wrong("there is no such number within reach");
    }
    return range;
  }

  /** The stricter of the two. */
  private static NumberRanges.@Nullable Bound bound(
      SchemaNode schema, String closed, String open, int sign) {
    BigDecimal closedAt = schema.number(closed);
    BigDecimal openAt = schema.number(open);
    if (openAt != null && (closedAt == null || openAt.compareTo(closedAt) * sign >= 0)) {
      return new NumberRanges.Bound(openAt, true);
    }
    return closedAt == null ? null : new NumberRanges.Bound(closedAt, false);
  }

  /** Powers of ten below 1 are digits after the point; others are counted where they are few. */
  private static GrammarNode multiples(
      SchemaNode schema,
      BigDecimal step,
      NumberRanges.@Nullable Bound low,
      NumberRanges.@Nullable Bound high,
      boolean integer) {
    if (step.signum() <= 0) {
      throw schema.wrong("multipleOf must be above 0");
    }
    return Multiples.of(schema, step, new Multiples.Range(low, high), integer);
  }
}
