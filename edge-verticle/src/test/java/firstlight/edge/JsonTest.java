package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  private final Json json =
      new Json(EdgeConfig.read(Settings.parse("open: true", _ -> null)).limits());

  private ObjectNode read(String body) {
    return json.object(Buffer.buffer(body));
  }

  private MeshException refusal(byte[] body) {
    try {
      json.object(body);
    } catch (MeshException e) {
      return e;
    }
    throw new AssertionError("it was accepted");
  }

  private MeshException refusal(String body) {
    return refusal(body.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "\"x\"",
        "null",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":1} {}",
        "{\"a\":1}x",
        "{\"model\":",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":\"\n\"}",
        "{a:1}",
        "{\"a\":1,}"
      })
  void what_is_not_one_json_object_is_refused_without_words_of_the_library(String body) {
    MeshException refusal = refusal(body);

    assertThat(Errors.status(refusal)).isEqualTo(400);
    assertThat(refusal.getMessage()).doesNotContainIgnoringCase("jackson", "Exception", "java.");
  }

  @Test
  void bytes_that_are_not_utf8_are_refused() {
    assertThat(refusal(new byte[] {(byte) 0xff, (byte) 0xfe}).code()).isEqualTo("invalid_json");
    assertThat(refusal("{\"a\":1}".getBytes(StandardCharsets.UTF_16)).code())
        .isEqualTo("invalid_json");
    byte[] broken = "{\"a\":\"xy\"}".getBytes(StandardCharsets.UTF_8);
    broken[6] = (byte) 0xc3;
    assertThat(refusal(broken).code()).isEqualTo("invalid_json");
  }

  @Test
  void a_name_that_stands_twice_is_refused_by_its_name() {
    MeshException refusal = refusal("{\"max_tokens\":5,\"max_tokens\":100000}");

    assertThat(refusal.param()).isEqualTo("max_tokens");
    assertThat(refusal("{\"a\":{\"b\":1,\"b\":2}}").param()).isEqualTo("b");
  }

  @Test
  void half_a_surrogate_pair_is_refused_by_the_path_of_its_field() {
    assertThat(refusal("{\"messages\":[{\"content\":\"emoji \\ud83d\"}]}").param())
        .isEqualTo("messages[0].content");
    assertThat(refusal("{\"stop\":[\"\\ude00 y\"]}").param()).isEqualTo("stop[0]");
    assertThat(Errors.status(refusal("{\"x\":{\"\\ud83d\":1}}"))).isEqualTo(400);
    assertThat(read("{\"a\":\"\\ud83e\\udd99\"}").get("a").asText()).isEqualTo("🦙");
  }

  @Test
  void depth_100_is_read_and_more_is_refused_in_no_time() {
    String legal = "{\"a\":".repeat(99) + "[1]" + "}".repeat(99);
    assertThat(read(legal).has("a")).isTrue();

    assertThat(refusal("{\"a\":" + legal + "}").getMessage()).contains("nested 100 deep");
    assertThat(refusal("[".repeat(100_000)).code()).isEqualTo("invalid_json");
    assertThat(refusal("{\"a\":".repeat(50_000)).code()).isEqualTo("invalid_json");
  }

  @Test
  void long_numbers_long_names_and_many_values_are_refused() {
    assertThat(refusal("{\"a\":1" + "0".repeat(1_000_000) + "}").code()).isEqualTo("invalid_json");
    assertThat(refusal("{\"" + "k".repeat(1_000_000) + "\":1}").code()).isEqualTo("invalid_json");
    assertThat(refusal("{\"a\":[" + "1,".repeat(1_100_000) + "1]}").code())
        .isEqualTo("invalid_json");
  }

  @Test
  void what_some_readers_take_for_a_line_end_is_escaped() {
    String text = "a\u2028b\u2029c\u0085d\u000be";
    String written = Json.text(Json.object().put("t", text));

    assertThat(written).doesNotContain("\u2028", "\u2029", "\u0085", "\u000b");
    assertThat(Objects.requireNonNull(read(written)).get("t").asText()).isEqualTo(text);
  }

  @Test
  void a_body_over_the_limit_is_too_large() {
    Json small =
        new Json(
            EdgeConfig.read(Settings.parse("{open: true, limits: {bodyBytesMax: 1KiB}}", _ -> null))
                .limits());

    assertThatThrownBy(() -> small.object(new byte[1025]))
        .isInstanceOfSatisfying(
            MeshException.class, e -> assertThat(Errors.status(e)).isEqualTo(413));
  }
}
