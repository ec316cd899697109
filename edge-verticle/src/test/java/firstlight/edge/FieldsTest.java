package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class FieldsTest {
  private static Fields fields(String json) throws Exception {
    return new Fields((ObjectNode) new ObjectMapper().readTree(json));
  }

  private static void refuses(String json, String param, Consumer<Fields> reader) throws Exception {
    Fields fields = fields(json);
    assertThatThrownBy(() -> reader.accept(fields))
        .as(json)
        .isInstanceOfSatisfying(
            MeshException.class,
            e -> {
              assertThat(e.param()).isEqualTo(param);
              assertThat(e.getMessage()).startsWith(param);
            });
  }

  @Test
  void null_counts_as_missing() throws Exception {
    Fields fields = fields("{\"n\":null,\"t\":null}");

    assertThat(fields.integer("n", 1, 5)).isEmpty();
    assertThat(fields.text("t")).isEmpty();
    assertThat(fields.number("x", 0, 1)).isEmpty();
    assertThat(fields.flag("f", true)).isTrue();
  }

  @Test
  void nothing_is_coerced_into_a_number() throws Exception {
    for (String wrong :
        new String[] {"true", "\"2\"", "1.5", "0", "-1", "1000000", "1e30", "2.0"}) {
      refuses("{\"n\":" + wrong + "}", "n", fields -> fields.integer("n", 1, 128));
    }
    assertThat(fields("{\"n\":128}").integer("n", 1, 128)).hasValue(128);
  }

  @Test
  void numbers_are_finite_and_in_their_range() throws Exception {
    for (String wrong : new String[] {"\"NaN\"", "1e400", "-1e400", "2.1", "-0.1", "[]", "false"}) {
      refuses("{\"t\":" + wrong + "}", "t", fields -> fields.number("t", 0, 2));
    }
    assertThat(fields("{\"t\":2}").number("t", 0, 2)).hasValue(2.0);
    assertThat(fields("{\"t\":1e-45}").number("t", 0, 2)).hasValue(1e-45);
  }

  @Test
  void texts_flags_objects_and_lists_are_what_they_say() throws Exception {
    refuses("{\"s\":\"true\"}", "s", fields -> fields.flag("s", false));
    refuses("{\"s\":{\"a\":1}}", "s", fields -> fields.text("s"));
    refuses("{}", "s", fields -> fields.requiredText("s"));
    refuses("{\"s\":\"abc\"}", "s", fields -> fields.text("s", 2));
    refuses("{\"s\":[1]}", "s", fields -> fields.texts("s", 5));
    refuses("{\"s\":[\"a\",\"b\"]}", "s", fields -> fields.texts("s", 1));
    refuses("{\"s\":[{},1]}", "s[1]", fields -> fields.objects("s", 5));
    refuses("{\"s\":[]}", "s", fields -> fields.object("s"));
    refuses("{\"o\":{\"n\":\"x\"}}", "o.n", fields -> fields.object("o").orElseThrow().whole("n"));
  }

  @Test
  void it_knows_what_nobody_asked_for() throws Exception {
    Fields fields = fields("{\"a\":1,\"b\":2,\"o\":{\"x\":1,\"y\":null}}");
    fields.whole("a");
    fields.object("o").orElseThrow().has("x");

    assertThat(fields.unread()).containsExactly("b", "o.y");
  }
}
