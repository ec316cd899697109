package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GrammarTest {
  static boolean matches(Grammar grammar, String text) {
    AutomatonBuilder builder = new AutomatonBuilder(grammar);
    Matcher matcher = new Matcher(builder.automaton());
    MatchState state = matcher.start(builder.rule(Grammar.ROOT));
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      state = matcher.next(state, Byte.toUnsignedInt(value));
    }
    return state.isComplete();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "root ::= \"a\" | \"bc\"~bc~true",
        "root ::= \"a\" | \"bc\"~b~false",
        "root ::= [a-c]+~abcabc~true",
        "root ::= [^a-c]~ü~true",
        "root ::= [^a-c]~b~false",
        "root ::= \"x\"{2,3}~x~false",
        "root ::= \"x\"{2,3}~xx~true",
        "root ::= \"x\"{2,3}~xxxx~false",
        "root ::= \"x\"{,2} \"y\"~y~true",
        "root ::= \"x\"{2,}~xxxxx~true",
        "root ::= \"x\"{0}~x~false",
        "root ::= (\"a\" | \"b\")* \"c\"?~abba~true",
        "root ::= . .~é€~true",
        "root ::= \"\\x41\\u00e9\\U0001F600\"~Aé😀~true",
        "root ::= [\\]\\-^]~^~true",
        "root ::= \"\" | \"a\"~``~true",
      })
  void a_text_is_in_the_grammar_or_not(String grammar, String text, boolean matches) {
    assertThat(matches(Grammar.parse(grammar), text)).isEqualTo(matches);
  }

  @Test
  void a_regular_expression_is_matched_from_the_first_character_to_the_last() {
    Grammar grammar = Grammar.parse(Grammar.ofRegex("[a-c]+|x").toString());

    assertThat(matches(grammar, "abc")).isTrue();
    assertThat(matches(grammar, "abcd")).isFalse();
    assertThat(matches(grammar, "xa")).isFalse();
    assertThatThrownBy(() -> Grammar.ofRegex("(a")).isInstanceOf(InvalidGrammar.class);
  }

  @Test
  void texts_to_choose_from_are_taken_as_they_are() {
    Grammar grammar = Grammar.parse(Grammar.ofTexts(List.of("a.b", "\"é\n")).toString());

    assertThat(matches(grammar, "a.b")).isTrue();
    assertThat(matches(grammar, "axb")).isFalse();
    assertThat(matches(grammar, "\"é\n")).isTrue();
    assertThatThrownBy(() -> Grammar.ofTexts(List.of())).isInstanceOf(InvalidGrammar.class);
  }

  @Test
  void rules_refer_to_each_other_and_to_themselves() {
    Grammar grammar =
        Grammar.parse(
            """
            # brackets in balance
            root ::= pair+
            pair ::= "(" pair* ")" |  # nested
              "[" pair* "]"
            """);
    assertThat(matches(grammar, "([()][])()")).isTrue();
    assertThat(matches(grammar, "([()][)()")).isFalse();
    assertThat(matches(grammar, "(".repeat(200) + ")".repeat(200))).isTrue();
  }

  @Test
  void rules_at_the_end_of_rules_nest_without_a_limit() {
    Grammar grammar = Grammar.parse("root ::= \"a\" root | \"b\"");
    assertThat(matches(grammar, "a".repeat(5_000) + "b")).isTrue();
  }

  @Test
  void what_is_nested_too_deep_is_outside_the_grammar() {
    Grammar grammar = Grammar.parse("root ::= \"(\" root \")\" | \"x\"");
    int most = Matcher.DEPTH_MAX;
    assertThat(matches(grammar, "(".repeat(most) + "x" + ")".repeat(most))).isTrue();
    assertThat(matches(grammar, "(".repeat(most + 1) + "x" + ")".repeat(most + 1))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "root ::= \"a\\\"\\\\\\n"
            + "\" [a-z0-9\\-\\]]* (\"x\" | other \"y\"){2,7} | \"\"\n"
            + "other ::= .\n",
        "root ::= ((\"a\"?)*)+ \"\\x07\\u20AC\"\n",
      })
  void its_text_makes_an_equal_grammar(String source) {
    Grammar grammar = Grammar.parse(source);
    Grammar again = Grammar.parse(grammar.toString());
    assertThat(again.rules()).isEqualTo(grammar.rules());
    assertThat(again).hasToString(grammar.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "other ::= \"a\"~the grammar has no rule 'root'",
        "root ::= other~there is no rule 'other'",
        "root = \"a\"~line 1: '::=' is missing",
        "root ::= \"a~line 1: a text or a set of characters is not closed",
        "root ::= [a-~line 1: a text or a set of characters is not closed",
        "root ::= [z-a]~line 1: a range of characters goes backwards",
        "root ::= (\"a\"~line 1: ')' is missing",
        "root ::= \"a\" ) \"b\"~line 1: the name of a rule is missing",
        "root ::= \"a\"{3,2}~line 1: a repetition must be",
        "root ::= \"a\"{x}~line 1: a number is missing",
        "root ::= \"a\"{1000000}~line 1: a repetition is at most 100000",
        "root ::= \"\\q\"~line 1: an unknown escape",
        "root ::= \"\\u12\"~line 1: a character needs 4 hexadecimal digits",
        "root ::= \"\\u+123\"~line 1: a character needs 4 hexadecimal digits",
        "root ::= \"a\" $~line 1: unexpected '$'",
      })
  void what_is_wrong_is_said(String source, String reason) {
    assertThatThrownBy(() -> Grammar.parse(source))
        .isInstanceOf(InvalidGrammar.class)
        .hasMessageContaining(reason);
  }

  @Test
  void the_line_of_a_mistake_is_said() {
    assertThatThrownBy(() -> Grammar.parse("root ::= a\na ::= \"x\"\nb ::= [\n"))
        .hasMessageContaining("line 3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "root ::= root \"a\" | \"b\"~refers to itself before it takes anything",
        "root ::= \"x\"? root \"a\" | \"b\"~refers to itself before it takes anything",
        "root ::= e root | \"b\"\\ne ::= \"\"~refers to itself before it takes anything",
        "root ::= \"a\" root~can never come to an end",
        "root ::= []~can never come to an end",
        "root ::= (\"a\"{100000}){100000}~the constraint is too large",
      })
  void what_cannot_be_followed_is_refused(String source, String reason) {
    Grammar grammar = Grammar.parse(source.replace("\\n", "\n"));
    assertThatThrownBy(() -> new AutomatonBuilder(grammar))
        .isInstanceOf(InvalidGrammar.class)
        .hasMessageContaining(reason);
  }

  @Test
  void loops_around_nothing_come_to_an_end() {
    assertThat(matches(Grammar.parse("root ::= ((\"a\"?)* e)* \"b\"\ne ::= \"c\"?"), "aacab"))
        .isTrue();
  }

  @Test
  void too_many_ways_at_once_are_refused() {
    StringBuilder source = new StringBuilder("root ::= ");
    for (int i = 0; i < 3_000; i++) {
      source.append(i == 0 ? "" : " | ").append("\"a\" \"").append(i).append('"');
    }
    Grammar grammar = Grammar.parse(source.toString());
    assertThatThrownBy(() -> matches(grammar, "a1"))
        .isInstanceOf(InvalidGrammar.class)
        .hasMessageContaining("too many ways");
  }

  @Test
  void a_hostile_nesting_of_brackets_is_refused() {
    String source = "root ::= " + "(".repeat(100_000) + "\"a\"" + ")".repeat(100_000);
    assertThatThrownBy(() -> Grammar.parse(source))
        .isInstanceOf(InvalidGrammar.class)
        .hasMessageContaining("nested deeper");
  }
}
