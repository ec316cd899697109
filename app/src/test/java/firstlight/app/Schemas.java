package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion.VersionFlag;

/** JSON Schemas in the eyes of a validator that knows nothing of how answers are kept to them. */
final class Schemas {
  private Schemas() {}

  /**
   * Fails unless the text is JSON that the schema allows.
   *
   * @param what for the message
   */
  static void check(JsonNode schema, String text, String what) {
    try {
      assertThat(
              JsonSchemaFactory.getInstance(VersionFlag.V202012)
                  .getSchema(
                      schema,
                      SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build())
                  .validate(Client.JSON.readTree(text)))
          .as("%s: schema %s, answer %s", what, schema, text)
          .isEmpty();
    } catch (JsonProcessingException e) {
      throw new AssertionError(what + " is not JSON: " + text, e);
    }
  }
}
