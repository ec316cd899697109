package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Tools with schemas made at random, and whether arguments keep to them. */
final class RandomTools {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Random random;

  RandomTools(Random random) {
    this.random = random;
  }

  static Tool tool(String name, Map<String, Object> parameters, boolean strict) {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", name);
    function.put("parameters", parameters);
    return new Tool(name, Map.of("type", "function", "function", function), parameters, strict);
  }

  List<Tool> tools(boolean strict) {
    List<Tool> tools = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      tools.add(tool("tool_" + "xyz".charAt(i), object(2), strict));
    }
    return tools;
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> properties = new LinkedHashMap<>();
    List<Object> required = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      String name = "p" + i;
      properties.put(name, value(depth - 1));
      if (random.nextBoolean()) {
        required.add(name);
      }
    }
    return Map.of(
        "type",
        "object",
        "properties",
        properties,
        "required",
        required,
        "additionalProperties",
        false);
  }

  private Map<String, Object> value(int depth) {
    return switch (random.nextInt(depth > 0 ? 7 : 5)) {
      case 0 -> Map.of("type", "string");
      case 1 -> Map.of("type", "integer", "minimum", -5, "maximum", 250);
      case 2 -> Map.of("type", "boolean");
      case 3 -> Map.of("enum", List.of("a b", "it's \"q\"", 7));
      case 4 -> Map.of("type", "number");
      case 5 -> Map.of("type", "array", "items", value(depth - 1), "maxItems", 2);
      default -> object(depth);
    };
  }

  /** Fails unless the arguments are JSON that keeps to the tool's schema. */
  static void check(Tool tool, String arguments) throws Exception {
    check(tool.parameters(), JSON.readTree(arguments));
  }

  private static void check(Map<?, ?> schema, JsonNode value) {
    if (schema.get("enum") instanceof List<?> values) {
      assertThat(values.stream().map(RandomTools::node).toList()).contains(value);
      return;
    }
    switch (String.valueOf(schema.get("type"))) {
      case "string" -> assertThat(value.isTextual()).isTrue();
      case "boolean" -> assertThat(value.isBoolean()).isTrue();
      case "number" -> assertThat(value.isNumber()).isTrue();
      case "integer" -> assertThat(value.longValue()).isBetween(-5L, 250L);
      case "array" -> {
        assertThat(value.size()).isLessThanOrEqualTo(2);
        value.forEach(item -> check((Map<?, ?>) schema.get("items"), item));
      }
      default -> checkObject(schema, value);
    }
  }

  private static JsonNode node(Object value) {
    return JSON.valueToTree(value);
  }

  private static void checkObject(Map<?, ?> schema, JsonNode value) {
    assertThat(value.isObject()).isTrue();
    Map<?, ?> properties = (Map<?, ?>) schema.get("properties");
    for (Object name : (List<?>) schema.get("required")) {
      assertThat(value.has((String) name)).isTrue();
    }
    value
        .properties()
        .forEach(
            pair -> {
              assertThat(properties.containsKey(pair.getKey())).isTrue();
              check((Map<?, ?>) properties.get(pair.getKey()), pair.getValue());
            });
  }
}
