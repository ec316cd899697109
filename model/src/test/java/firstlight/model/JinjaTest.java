package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Templates and expressions against what Python's Jinja2 makes of them. The answers are in {@code
 * templates/expected.json}, which {@code expected.py} beside it writes.
 */
class JinjaTest {
  private static final Instant NOW = Instant.parse("2026-02-03T04:05:06Z");
  private static final JsonNode EXPECTED = read();
  // Makes values as they are in templates.
  private static final ControlGuard PLAIN = new ControlGuard(java.util.List.of());

  static Stream<JsonNode> templates() {
    return stream(EXPECTED.get("templates"));
  }

  static Stream<JsonNode> expressions() {
    return stream(EXPECTED.get("expressions"));
  }

  @ParameterizedTest
  @MethodSource("templates")
  void templates_of_known_models_give_what_jinja2_gives(JsonNode expected) {
    Map<String, @Nullable Object> context = new HashMap<>();
    JsonNode messages = EXPECTED.get("conversations").get(expected.get("conversation").asText());
    context.put("messages", value(messages));
    context.put("tools", expected.get("tools").asBoolean() ? value(EXPECTED.get("tools")) : null);
    context.put("add_generation_prompt", expected.get("prompt").asBoolean());
    context.put("bos_token", "<BOS>");
    context.put("eos_token", "<EOS>");

    check(template(expected.get("template").asText()), context, expected);
  }

  @ParameterizedTest
  @MethodSource("expressions")
  void expressions_give_what_jinja2_gives(JsonNode expected) {
    Map<String, @Nullable Object> context = new LinkedHashMap<>();
    EXPECTED
        .get("context")
        .properties()
        .forEach(entry -> context.put(entry.getKey(), value(entry.getValue())));

    check(expected.get("source").asText().replace('\u2424', '\n'), context, expected);
  }

  private static void check(
      String source, Map<String, @Nullable Object> context, JsonNode expected) {
    String outcome;
    try {
      outcome = ChatTemplate.render(JinjaParser.parse(source), context, NOW, 0);
    } catch (TemplateException e) {
      outcome = e.refusal() ? "refusal: " + e.getMessage() : "error";
      assertThat(expected.has("output")).as(e.getMessage()).isFalse();
    }
    String wanted =
        expected.has("output")
            ? expected.get("output").asText()
            : expected.has("refusal") ? "refusal: " + expected.get("refusal").asText() : "error";
    assertThat(outcome).isEqualTo(wanted);
  }

  static String template(String name) {
    return name.equals("gemma3")
        ? ChatTemplate.builtIn(name)
        : text("/templates/" + name + ".jinja");
  }

  private static String text(String resource) {
    try (InputStream in = JinjaTest.class.getResourceAsStream(resource)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode read() {
    try {
      return new ObjectMapper().readTree(text("/templates/expected.json"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static @Nullable Object value(JsonNode json) {
    return PLAIN.guarded(new ObjectMapper().convertValue(json, Object.class), '\uFDD0');
  }

  private static Stream<JsonNode> stream(JsonNode array) {
    return array.valueStream();
  }
}
