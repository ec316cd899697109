package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
  private enum Color {
    RED,
    DARK_BLUE
  }

  private static Settings of(String yaml) {
    return Settings.parse(yaml, Map.of("NAME", "value", "EMPTY", "")::get);
  }

  @Test
  void what_is_not_there_has_its_default() {
    Settings settings = of("");
    assertThat(settings.text("a", "x")).isEqualTo("x");
    assertThat(settings.integer("b", 7, 0, 10)).isEqualTo(7);
    assertThat(settings.flag("c", true)).isTrue();
    assertThat(settings.duration("d", Duration.ofSeconds(3))).isEqualTo(Duration.ofSeconds(3));
    assertThat(settings.bytes("e", 5)).isEqualTo(5);
    assertThat(settings.choice("f", Color.DARK_BLUE)).isEqualTo(Color.DARK_BLUE);
    assertThat(settings.number("g", 0.5, 0, 1)).isEqualTo(0.5);
    assertThat(settings.texts("h", List.of("z"))).containsExactly("z");
    assertThat(settings.section("i").text("j", "k")).isEqualTo("k");
    settings.done();
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void what_is_there_is_read_with_its_unit() {
    Settings settings =
        of(
            """
            a: text
            b: 9
            c: false
            d: 250ms
            e: 3 MiB
            f: dark-blue
            g: 0.25
            h: [x, y]
            """);
    assertThat(settings.text("a", "")).isEqualTo("text");
    assertThat(settings.integer("b", 0, 0, 10)).isEqualTo(9);
    assertThat(settings.flag("c", true)).isFalse();
    assertThat(settings.duration("d", Duration.ZERO)).isEqualTo(Duration.ofMillis(250));
    assertThat(settings.bytes("e", 0)).isEqualTo(3L << 20);
    assertThat(settings.choice("f", Color.RED)).isEqualTo(Color.DARK_BLUE);
    assertThat(settings.number("g", 0, 0, 1)).isEqualTo(0.25);
    assertThat(settings.texts("h", List.of())).containsExactly("x", "y");
    settings.done();
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void a_number_can_be_left_to_whoever_reads_it() {
    Settings settings = of("{a: auto, b: 3, c: 0, d: many}");
    assertThat(settings.integerOrAuto("a", 1, 9)).isEmpty();
    assertThat(settings.integerOrAuto("b", 1, 9)).hasValue(3);
    assertThat(settings.integerOrAuto("c", 1, 9)).isEmpty();
    assertThat(settings.integerOrAuto("d", 1, 9)).isEmpty();
    assertThat(settings.integerOrAuto("e", 1, 9)).isEmpty();
    assertThat(settings.problems().found())
        .containsExactly(
            "c must be auto or a whole number from 1 to 9, not \"0\"",
            "d must be auto or a whole number from 1 to 9, not \"many\"");
    assertThat(settings.effective()).contains("a = auto", "b = 3", "e = auto");
  }

  @Test
  void all_mistakes_are_told_together_and_each_names_its_setting() {
    Settings settings =
        of(
            """
            edge:
              port: 70000
              wait: 5
              size: big
              color: green
              flag: perhaps
              share: 2
              prot: 1
            list: 3
            """);
    Settings edge = settings.section("edge");
    edge.integer("port", 80, 1, 65535);
    edge.duration("wait", Duration.ZERO);
    edge.bytes("size", 1);
    edge.choice("color", Color.RED);
    edge.flag("flag", false);
    edge.number("share", 0, 0, 1);
    edge.requiredText("name");
    edge.done();
    settings.texts("list", List.of());
    assertThatThrownBy(settings.problems()::throwIfAny)
        .isInstanceOf(InvalidSettings.class)
        .hasMessageContainingAll(
            "edge.port must be a whole number from 1 to 65535, not \"70000\"",
            "edge.wait must be a time with its unit",
            "edge.size must be a size",
            "edge.color must be one of red, dark-blue, not \"green\"",
            "edge.flag must be true or false",
            "edge.share must be a number from 0.0 to 1.0",
            "edge.name is missing",
            "edge.prot is not a setting; did you mean edge.port?",
            "list must be a list");
  }

  @Test
  void numbers_too_large_for_their_unit_are_refused() {
    Settings settings = of("a: 999999999999999 GiB\nb: 999999999999999d\nc: 99999999999999999999");
    settings.bytes("a", 0);
    settings.duration("b", Duration.ZERO);
    settings.whole("c", 0, 0, Long.MAX_VALUE);
    assertThat(settings.problems().found()).hasSize(3);
  }

  @Test
  void the_environment_fills_in_and_a_missing_variable_is_a_mistake() {
    Settings settings = of("a: x-${NAME}\nb: ${NONE:-fallback}\nc: ${NONE}\nd: ${EMPTY}");
    assertThat(settings.text("a", "")).isEqualTo("x-value");
    assertThat(settings.text("b", "")).isEqualTo("fallback");
    settings.text("c", "");
    assertThat(settings.text("d", "")).isEmpty();
    assertThat(settings.problems().found())
        .containsExactly("c needs the environment variable NONE");
  }

  @Test
  void secrets_are_masked_when_printed() {
    Settings settings = of("password: hunter2\nport: 1");
    assertThat(settings.secret("password", "")).isEqualTo("hunter2");
    settings.integer("port", 0, 0, 9);
    assertThat(settings.effective()).containsExactly("password = ********", "port = 1");
  }

  @Test
  void named_sections_keep_their_order_and_their_paths() {
    Settings settings = of("models:\n  b: {file: 1}\n  a: {fiel: 2}");
    Map<String, Settings> models = settings.named("models");
    assertThat(models.keySet()).containsExactly("b", "a");
    models.forEach(
        (_, model) -> {
          model.text("file", "");
          model.done();
        });
    assertThat(settings.problems().found())
        .containsExactly("models.a.fiel is not a setting; did you mean models.a.file?");
  }

  @Test
  void lists_of_sections_are_counted() {
    Settings settings = of("tenants:\n  - {name: a}\n  - 7");
    assertThat(settings.sections("tenants").getFirst().text("name", "")).isEqualTo("a");
    assertThat(settings.problems().found())
        .containsExactly("tenants[1] must be a section of settings");
  }

  @Test
  void what_is_not_yaml_is_refused_with_its_line() {
    assertThatThrownBy(() -> of("a: [1\nb: }"))
        .isInstanceOf(InvalidSettings.class)
        .hasMessageContaining("it is not YAML (line");
    assertThatThrownBy(() -> of("- 1"))
        .isInstanceOf(InvalidSettings.class)
        .hasMessageContaining("must be a mapping");
  }
}
