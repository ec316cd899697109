package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates that attack the process: cases B78 and B79. */
class HostileTemplateTest {
  private static final String LOOP = "{% for m in messages %}{{ m.content }}{% endfor %}";
  // The case says a second; what runs beside the test may hold it up.
  private static final Duration TIME = Duration.ofSeconds(5);

  private static String render(String source) {
    return Assertions.assertTimeoutPreemptively(
        TIME,
        () ->
            ChatTemplate.render(
                JinjaParser.parse(source),
                Map.of("messages", List.of(Map.of("role", "user", "content", "hi"))),
                Instant.EPOCH,
                2));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ messages.getClass().forName('java.lang.Runtime').getMethod('getRuntime').invoke(null)"
            + ".exec('touch pwned-marker') }}",
        "{{ ''.class.forName('java.lang.System').getProperty('user.name') }}",
        "{{ messages[0].getClass().getClassLoader() }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ lipsum.__globals__['os'].popen('id').read() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__ }}",
        "{{ include('/etc/passwd') }}",
        "{% include '/etc/passwd' %}",
        "{% import 'x' as y %}",
        "{% from 'x' import y %}",
        "{% extends '/etc/passwd' %}",
        "{% block x %}{% endblock %}",
        "{{ messages | attr('getClass') }}",
        "{{ messages | map('getClass') | list }}",
        "{{ namespace.getClass() }}",
        "{{ range.getClass() }}",
        "{{ strftime_now('%n') }}",
        "{{ messages[0].put('x', 1) }}",
        "{{ messages.clear() }}"
      })
  void b78_a_template_that_reaches_for_java_or_files_fails(String source) {
    assertThatThrownBy(() -> render(source + LOOP)).isInstanceOf(TemplateException.class);
  }

  @Test
  void b78_a_text_that_looks_like_a_template_stays_text() {
    String hostile = "{{ ''.class }}{% include '/etc/passwd' %}{{ 'x' * 2000000000 }}{{ 7 * 7 }}";
    assertThat(
            ChatTemplate.render(
                JinjaParser.parse(LOOP),
                Map.of("messages", List.of(Map.of("role", "system", "content", hostile))),
                Instant.EPOCH,
                2))
        .isEqualTo(hostile);
  }

  @Test
  void b78_names_of_other_systems_are_undefined() {
    assertThat(render("[{{ request }}{{ config }}{{ env }}{{ ''.class }}{{ self }}]" + LOOP))
        .isEqualTo("[]hi");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for i in range(999) %}{% for j in range(999) %}{% for k in range(999) %}{% endfor %}"
            + "{% endfor %}{% endfor %}ok",
        "{{ 'x' * 2000000000 }}",
        "{{ [0] * 2000000000 }}",
        "{{ [[0] * 1000] * 100000000 }}",
        "{% set ns = namespace(a='xx') %}{% for i in range(40) %}{% set ns.a = ns.a ~ ns.a %}"
            + "{% endfor %}",
        "{% set ns = namespace(a=[1]) %}{% for i in range(40) %}{% set ns.a = ns.a + ns.a %}"
            + "{% endfor %}",
        "{% set ns = namespace(a=[1]) %}{% for i in range(99999) %}{% set ns.a = [ns.a] %}"
            + "{% endfor %}{{ ns.a }}",
        "{% set ns = namespace(a=[1]) %}{% for i in range(999) %}{% set ns.a = [ns.a] %}"
            + "{% endfor %}{{ ns.a == ns.a }}{{ ns.a | tojson }}",
        "{% set ns = namespace(a=1) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}"
            + "{% endfor %}{{ ns.a == ns.a }}",
        "{% set ns = namespace(a=1) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}"
            + "{% endfor %}{{ ns.a | tojson(indent=4) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(n) %}{{ n }}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% macro r() %}{% call m() %}{{ r() }}"
            + "{% endcall %}{% endmacro %}{{ r() }}",
        "{{ range(1000000000) }}",
        "{% set l = range(100000) | list %}{% for i in range(1000) %}{% set m = l | list %}"
            + "{% endfor %}",
        "{{ range(-2000000000, 2000000000) | length }}",
        "{% for i in range(1000000000) %}{% endfor %}",
        "{{ ('x' * 1000000) | replace('x', 'y' * 1000000) }}",
        "{{ ('x' * 1000000).replace('', 'y' * 1000) }}",
        "{{ ('a\n' * 100000) | indent(1000) }}",
        "{{ (['x' * 1000] * 100000) | join('y' * 1000) }}",
        "{% for i in range(900000) %}{{ ('x' * 10000000)[i] }}{% endfor %}",
        "{% set s = 'x ' * 1000000 %}{% for i in range(100000) %}{% set t = s.split() %}{% endfor"
            + " %}",
        "{% set a = 'x' * 1000000 %}{% set b = 'x' * 1000000 %}{% for i in range(1000) %}"
            + "{{ a == b }}{% endfor %}",
        "{{ range(900000) | list | unique | list }}",
        "{{ 10 ** 1000000000000 }}",
        "{{ 2 ** 64 }}",
        "{{ messages | map('map', 'map', 'map', 'map') | list | map('map', 'x') }}"
      })
  void b79_a_template_without_end_is_stopped(String source) {
    assertThatThrownBy(() -> render(source)).isInstanceOf(TemplateException.class);
  }

  @Test
  void a_template_nested_without_end_is_refused() {
    List<String> sources =
        List.of(
            "{{ " + "(".repeat(100_000),
            "{{ " + "[".repeat(100_000),
            "{{ " + "not ".repeat(60_000) + "x }}",
            "{{ " + "-".repeat(100_000) + "1 }}",
            "{{ 1" + " + 1".repeat(50_000) + " }}",
            "{{ x" + ".x".repeat(50_000) + " }}",
            "{{ x" + "|trim".repeat(50_000) + " }}",
            "{{ x" + " if x".repeat(50_000) + " }}",
            "{{ x" + " if x else x".repeat(20_000) + " }}",
            "{% if x %}".repeat(20_000),
            "{% set x" + "|trim".repeat(50_000) + " %}{% endset %}",
            "x".repeat(300_000));
    for (String source : sources) {
      assertThatThrownBy(() -> render(source))
          .as(source.substring(0, 20))
          .isInstanceOf(TemplateException.class);
    }
  }

  @Test
  void long_tags_are_read_in_time() {
    assertThatThrownBy(() -> render("{#".repeat(100_000))).isInstanceOf(TemplateException.class);
    assertThatThrownBy(() -> render("{{ '" + "\\x".repeat(100_000)))
        .isInstanceOf(TemplateException.class);
    assertThat(render("{ ".repeat(100_000))).hasSize(199_999 + 1);
    assertThat(render("{%- if true %}" + " ".repeat(200_000) + "{%- endif %}")).isEmpty();
  }

  @Test
  void a_long_honest_conversation_is_within_the_budget() {
    String text = "A sentence of some length. ".repeat(100);
    List<Map<String, String>> messages =
        java.util.stream.IntStream.range(0, 2000)
            .mapToObj(i -> Map.of("role", i % 2 == 0 ? "user" : "assistant", "content", text))
            .toList();
    String rendered =
        ChatTemplate.render(
            JinjaParser.parse(JinjaTest.template("thinking")),
            Map.of("messages", messages, "add_generation_prompt", true),
            Instant.EPOCH,
            2000L * text.length());

    assertThat(rendered).hasSizeGreaterThan(2000 * text.length());
  }
}
