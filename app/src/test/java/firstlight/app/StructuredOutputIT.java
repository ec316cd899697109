package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Format;
import com.networknt.schema.JsonMetaSchema;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.format.PatternFormat;
import firstlight.model.TestModels;
import firstlight.model.Tokenizer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The real model at temperature 1, held to JSON Schemas: each answer is JSON that its schema
 * allows, in the eyes of a validator that knows nothing of how they are kept to. {@code
 * -Dschemas=500} takes as many, {@code -DschemaFrom=123} others.
 */
@ExtendWith(SharedFirstlight.class)
class StructuredOutputIT {
  private static final int SCHEMAS = Integer.getInteger("schemas", 100);
  private static final int FROM = Integer.getInteger("schemaFrom", 0);
  private static final int ABREAST = 16;

  /** More than what is bounded needs. */
  private static final int TOKENS = 700;

  /** For the word that ends a chain, of which a small model would make no end. */
  private static final int END_BIAS = 6;

  /** As browsers have it: the validator's own is content with nothing but a domain it knows. */
  private static final Format EMAIL =
      PatternFormat.of(
          "email",
          "^(?=[^@]{1,64}@)[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@%1$s(\\.%1$s)*$"
              .replace("%1$s", "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"),
          "format.email");

  private static final JsonSchemaFactory VALIDATORS =
      JsonSchemaFactory.getInstance(
          VersionFlag.V202012,
          factory ->
              factory.metaSchema(
                  JsonMetaSchema.builder(JsonMetaSchema.getV202012()).format(EMAIL).build()));

  private final Served served;

  StructuredOutputIT(Served served) {
    this.served = served;
  }

  @Test
  void every_answer_keeps_to_its_schema() throws Exception {
    Tokenizer tokenizer = TestModels.smollm2Model().tokenizer();
    List<Integer> ends = Stream.of("null", " null").map(word -> tokenizer.encode(word)[0]).toList();
    Deque<CompletableFuture<Client.Answer>> abreast = new ArrayDeque<>();
    long tokens = 0;
    for (int seed = FROM; seed < FROM + SCHEMAS + ABREAST; seed++) {
      int oldest = seed - ABREAST;
      if (oldest >= FROM) {
        Client.Answer answered = abreast.remove().get();
        assertThat(answered.status()).as("-DschemaFrom=%d: %s", oldest, answered).isEqualTo(200);
        JsonNode answer = answered.body();
        check(new RandomSchemas(oldest).next(), answer, oldest);
        tokens += answer.at("/usage/completion_tokens").asInt();
      }
      if (seed < FROM + SCHEMAS) {
        ObjectNode body = request(new RandomSchemas(seed).next(), seed, ends);
        abreast.add(served.a().sendLater(Served.CHAT, body));
      }
    }
    System.out.printf("%d schemas, %d tokens%n", SCHEMAS, tokens);
  }

  private static ObjectNode request(ObjectNode schema, int seed, List<Integer> ends) {
    ObjectNode body =
        Served.chat("Make up an example.", TOKENS).put("temperature", 1).put("seed", seed);
    if (schema.has("$defs")) {
      ObjectNode biases = body.putObject("logit_bias");
      ends.forEach(token -> biases.put(String.valueOf(token), END_BIAS));
    }
    ObjectNode format = body.putObject("response_format").put("type", "json_schema");
    format
        .putObject("json_schema")
        .put("name", "example")
        .put("strict", true)
        .set("schema", schema);
    return body;
  }

  private static void check(ObjectNode schema, JsonNode answer, int seed) throws Exception {
    String text = Served.text(answer);
    String shown =
        "-Dschemas=1 -DschemaFrom=%d, schema %s, answer %s".formatted(seed, schema, text);
    assertThat(Served.reason(answer)).as(shown).isEqualTo("stop");
    JsonSchema validator =
        VALIDATORS.getSchema(
            schema, SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build());
    assertThat(validator.validate(Client.JSON.readTree(text))).as(shown).isEmpty();
  }
}
