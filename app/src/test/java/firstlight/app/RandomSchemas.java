package firstlight.app;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.SplittableRandom;

/**
 * JSON Schemas of all that is supported, by a seed. Texts and lists are bounded, so that a small
 * model comes to an end.
 */
final class RandomSchemas {
  private static final List<String> WORDS =
      List.of("name", "city", "größe", "a\"b", "tags", "x", "unit_price", "日本", "is ok", "next");
  private static final List<String> PATTERNS =
      List.of("^[A-Z]{2}[0-9]{1,3}$", "^(red|green|blue)$", "^\\d{3}-\\d{4}$", "^[^\\s]{1,5}$");
  private static final List<String> FORMATS =
      List.of("date", "time", "date-time", "email", "uuid", "ipv4", "hostname", "duration");

  private final SplittableRandom random;

  RandomSchemas(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** An object, as an answer has to be. */
  ObjectNode next() {
    ObjectNode schema = object(3);
    if (random.nextInt(4) == 0) {
      ObjectNode node = schema.putObject("$defs").putObject("node");
      node.put("type", "object").put("additionalProperties", false);
      ObjectNode properties = node.putObject("properties");
      properties.putObject("value").put("type", "integer").put("minimum", 0).put("maximum", 99);
      ArrayNode next = properties.putObject("rest").putArray("anyOf");
      next.addObject().put("type", "null");
      next.addObject().put("$ref", "#/$defs/node");
      node.putArray("required").add("value").add("rest");
      ((ObjectNode) schema.get("properties")).putObject("chain").put("$ref", "#/$defs/node");
    }
    return schema;
  }

  private ObjectNode any(int depth) {
    return switch (random.nextInt(depth > 0 ? 11 : 8)) {
      case 0, 1 -> text();
      case 2 -> whole();
      case 3 -> decimal();
      case 4 -> object("boolean");
      case 5 -> choices();
      case 6 -> constant();
      case 7 -> nullable();
      case 8 -> list(depth - 1);
      case 9 -> either(depth - 1);
      default -> object(depth - 1);
    };
  }

  private ObjectNode object(int depth) {
    ObjectNode schema = object("object");
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = schema.putArray("required");
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      String name = WORDS.get(random.nextInt(WORDS.size()));
      if (!properties.has(name)) {
        properties.set(name, any(depth));
        if (random.nextInt(3) > 0) {
          required.add(name);
        }
      }
    }
    if (random.nextInt(3) > 0) {
      schema.put("additionalProperties", false);
    }
    return schema;
  }

  private ObjectNode text() {
    ObjectNode schema = object("string");
    switch (random.nextInt(3)) {
      case 0 -> schema.put("pattern", PATTERNS.get(random.nextInt(PATTERNS.size())));
      case 1 -> schema.put("format", FORMATS.get(random.nextInt(FORMATS.size())));
      default -> schema.put("minLength", random.nextInt(3)).put("maxLength", 3 + random.nextInt(9));
    }
    return schema;
  }

  private ObjectNode whole() {
    ObjectNode schema = object("integer");
    int low = random.nextInt(-2_000, 2_000);
    if (random.nextBoolean()) {
      schema.put(random.nextBoolean() ? "minimum" : "exclusiveMinimum", low);
    }
    if (random.nextBoolean()) {
      schema.put("maximum", low + 2 + random.nextInt(5_000));
    }
    if (schema.has("minimum") && schema.has("maximum") && random.nextInt(3) == 0) {
      schema.put("multipleOf", 1 + random.nextInt(2));
    }
    return schema;
  }

  private ObjectNode decimal() {
    ObjectNode schema = object("number");
    double low = random.nextInt(-500, 500) / 8.0;
    if (random.nextBoolean()) {
      schema.put("minimum", low);
    }
    if (random.nextBoolean()) {
      schema.put(
          random.nextBoolean() ? "maximum" : "exclusiveMaximum", low + 1 + random.nextInt(50));
    }
    return schema;
  }

  private ObjectNode choices() {
    ObjectNode schema = JsonNodeFactory.instance.objectNode();
    schema.putArray("enum").add("one").add(2).add("dr\u00e9i \"3\"").addNull().add(true);
    return schema;
  }

  private ObjectNode constant() {
    ObjectNode schema = JsonNodeFactory.instance.objectNode();
    schema.putObject("const").put("kind", WORDS.get(random.nextInt(WORDS.size())));
    return schema;
  }

  private ObjectNode nullable() {
    ObjectNode schema = JsonNodeFactory.instance.objectNode();
    schema.putArray("type").add(random.nextBoolean() ? "integer" : "boolean").add("null");
    return schema;
  }

  private ObjectNode list(int depth) {
    ObjectNode schema = object("array");
    schema.set("items", any(depth));
    int min = random.nextInt(3);
    return schema.put("minItems", min).put("maxItems", min + random.nextInt(3));
  }

  private ObjectNode either(int depth) {
    ObjectNode schema = JsonNodeFactory.instance.objectNode();
    schema.putArray("anyOf").add(any(depth)).add(any(depth));
    return schema;
  }

  private static ObjectNode object(String type) {
    return JsonNodeFactory.instance.objectNode().put("type", type);
  }
}
