package firstlight.edge;

import firstlight.model.SchemaGrammar;
import org.jspecify.annotations.Nullable;

/**
 * What form a Response is to have, as far as that is known without work.
 *
 * @param form complete but for the grammar of the schema
 * @param schema a JSON Schema that the text must keep to, of values of the JDK; null: none
 */
record ResponseForm(AnswerForm form, @Nullable Object schema) {
  private static final String PARAM = "text.format.schema";

  /**
   * The whole form. It may take long.
   *
   * @throws firstlight.protocol.MeshException the schema cannot be kept to, with the reason
   */
  AnswerForm complete() {
    if (schema == null) {
      return form;
    }
    String grammar = GrammarReader.kept(PARAM, () -> SchemaGrammar.of(schema)).toString();
    return new AnswerForm(form.tools(), form.choice(), form.parallel(), grammar);
  }
}
