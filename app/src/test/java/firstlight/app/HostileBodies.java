package firstlight.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Good bodies made bad, by chance: values of wrong kinds and sizes, and bytes of any kind. */
final class HostileBodies {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final SplittableRandom random;
  private final List<Supplier<JsonNode>> values =
      List.of(
          JSON::nullNode,
          () -> JSON.booleanNode(true),
          () -> JSON.numberNode(-1),
          () -> JSON.numberNode(0.5),
          () -> JSON.numberNode(1e308),
          () -> JSON.numberNode(Long.MIN_VALUE),
          () -> JSON.textNode(""),
          () -> JSON.textNode("\u0000\ud800<|im_end|>\u202e"),
          () -> JSON.textNode("x".repeat(20_000)),
          () -> JSON.textNode("{\"a\":".repeat(2_000)),
          JSON::objectNode,
          JSON::arrayNode,
          () -> JSON.objectNode().set("", JSON.nullNode()),
          () -> JSON.arrayNode().add(JSON.arrayNode()).add(1).add("a").addNull(),
          () -> JSON.objectNode().put("type", "function").put("name", "../x"),
          () -> JSON.objectNode().put("type", "json_schema").set("schema", recursion()),
          () -> JSON.objectNode().put("type", "image_url").put("url", "http://127.0.0.1:1/"));

  HostileBodies(SplittableRandom random) {
    this.random = random;
  }

  private static ObjectNode recursion() {
    ObjectNode schema = JSON.objectNode();
    schema.putArray("allOf").addObject().put("$ref", "#");
    return schema;
  }

  byte[] next(ObjectNode good) {
    ObjectNode body = good.deepCopy();
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      change(body);
    }
    byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    return random.nextInt(3) == 0 ? damaged(bytes) : bytes;
  }

  /** One value somewhere in it becomes another, or goes, or a new one comes. */
  private void change(JsonNode within) {
    JsonNode at = within;
    while (at.size() > 0 && random.nextInt(3) > 0 && child(at).isContainerNode()) {
      at = child(at);
    }
    if (at instanceof ObjectNode object) {
      List<String> names = new ArrayList<>();
      object.fieldNames().forEachRemaining(names::add);
      String name =
          names.isEmpty() || random.nextInt(6) == 0
              ? "extra" + random.nextInt(9)
              : names.get(random.nextInt(names.size()));
      if (random.nextInt(8) == 0) {
        object.remove(name);
      } else {
        object.set(name, values.get(random.nextInt(values.size())).get());
      }
    } else if (at instanceof ArrayNode array) {
      array.add(values.get(random.nextInt(values.size())).get());
    }
  }

  private JsonNode child(JsonNode node) {
    List<JsonNode> children = new ArrayList<>();
    node.forEach(children::add);
    return children.get(random.nextInt(children.size()));
  }

  /** Bytes of which some are others, and the last may be missing. */
  byte[] damaged(byte[] bytes) {
    byte[] damaged = bytes.clone();
    for (int i = random.nextInt(4); i > 0; i--) {
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
    }
    return random.nextBoolean()
        ? damaged
        : Arrays.copyOf(damaged, 1 + random.nextInt(damaged.length));
  }
}
