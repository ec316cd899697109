package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The specification's own schemas; a test that needs them is skipped where they are not. One defect
 * of them is mended: a Response that repeats a JSON Schema could only show null in its place.
 */
final class ResponseSchemas {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final JsonNode components;
  private final Map<String, String> eventSchemas = new HashMap<>();
  private final Map<String, JsonSchema> compiled = new HashMap<>();

  private ResponseSchemas(JsonNode components) {
    this.components = components;
    ((ObjectNode) components.at("/schemas/JsonSchemaResponseFormat/properties"))
        .putObject("schema")
        .put("type", "object");
    components
        .get("schemas")
        .properties()
        .forEach(
            schema -> {
              if (schema.getKey().endsWith("StreamingEvent")) {
                JsonNode type = schema.getValue().at("/properties/type/enum/0");
                eventSchemas.put(type.asText(), schema.getKey());
              }
            });
  }

  static ResponseSchemas load() {
    Path file =
        Path.of(System.getProperty("firstlight.shared", ""), "spec", "openresponses-openapi.json");
    assumeTrue(Files.exists(file), "the specification is not there: " + file);
    try {
      return new ResponseSchemas(MAPPER.readTree(file.toFile()).get("components"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Fails unless it is one of the specification's events. */
  void checkEvent(ObjectNode event) {
    String schema = eventSchemas.get(event.get("type").textValue());
    assertThat(schema).as("an event of the specification: %s", event).isNotNull();
    check(schema, event);
  }

  /** Fails with what is wrong, unless the object is valid. */
  void check(String schema, ObjectNode object) {
    assertThat(mistakes(schema, object)).as("%s as %s", object, schema).isEmpty();
  }

  List<String> mistakes(String schema, ObjectNode object) {
    try {
      return compiled
          .computeIfAbsent(schema, this::compile)
          .validate(MAPPER.readTree(Json.text(object)))
          .stream()
          .map(Object::toString)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonSchema compile(String schema) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("$ref", "#/components/schemas/" + schema);
    document.set("components", components);
    return JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(document);
  }
}
