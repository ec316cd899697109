package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion.VersionFlag;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The real model at temperature 1, held to JSON Schemas: each answer is JSON that its schema
 * allows, in the eyes of a validator that knows nothing of how they are kept to. {@code
 * -Dschemas=500} takes as many.
 */
@ExtendWith(SharedFirstlight.class)
class StructuredOutputIT {
  private static final int SCHEMAS = Integer.getInteger("schemas", 100);
  private static final int ABREAST = 16;

  /**
   * More than what is bounded needs. Of what may be nested without end, a small model makes no end.
   */
  private static final int TOKENS = 700;

  private final Served served;

  StructuredOutputIT(Served served) {
    this.served = served;
  }

  @Test
  void every_answer_keeps_to_its_schema() throws Exception {
    List<ObjectNode> schemas = new ArrayList<>();
    for (int seed = 0; seed < SCHEMAS; seed++) {
      schemas.add(new RandomSchemas(seed).next());
    }
    int cut = 0;
    for (int from = 0; from < SCHEMAS; from += ABREAST) {
      List<ObjectNode> some = schemas.subList(from, Math.min(SCHEMAS, from + ABREAST));
      List<ObjectNode> bodies = new ArrayList<>();
      for (ObjectNode schema : some) {
        bodies.add(request(schema, from + bodies.size()));
      }
      List<JsonNode> answers = served.crowd(Served.CHAT, bodies);
      for (int i = 0; i < answers.size(); i++) {
        if (Served.reason(answers.get(i)).equals("length")) {
          assertThat(some.get(i).has("$defs"))
              .as("only what may be nested without end is cut: %s", some.get(i))
              .isTrue();
          cut++;
        } else {
          check(some.get(i), Served.text(answers.get(i)), from + i);
        }
      }
    }
    System.out.printf("%d schemas, %d answers cut by their length%n", SCHEMAS, cut);
    assertThat(cut).isLessThan(SCHEMAS / 4);
  }

  private static ObjectNode request(ObjectNode schema, int seed) {
    ObjectNode body =
        Served.chat("Make up an example.", TOKENS).put("temperature", 1).put("seed", seed);
    ObjectNode format = body.putObject("response_format").put("type", "json_schema");
    format
        .putObject("json_schema")
        .put("name", "example")
        .put("strict", true)
        .set("schema", schema);
    return body;
  }

  private static void check(ObjectNode schema, String text, int seed) throws Exception {
    JsonSchema validator =
        JsonSchemaFactory.getInstance(VersionFlag.V202012)
            .getSchema(
                schema, SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build());
    assertThat(validator.validate(Client.JSON.readTree(text)))
        .as("seed %d, schema %s, answer %s", seed, schema, text)
        .isEmpty();
  }
}
