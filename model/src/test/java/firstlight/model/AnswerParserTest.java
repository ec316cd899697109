package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Answers taken apart, each whole, cut at every place, and in single characters. A new line is
 * written as |.
 */
class AnswerParserTest {
  /** Short templates of each family. */
  enum Family {
    HERMES("{{ tools }} <tool_call> tool_calls <think>"),
    LLAMA("{{ tools }} <|python_tag|> tool_calls"),
    MISTRAL("{{ tools }} [TOOL_CALLS] tool_calls"),
    GEMMA("<start_of_turn>"),
    GENERIC("{{ messages }}");

    private final String template;

    Family(String template) {
      this.template = template;
    }

    AnswerParser parser() {
      return FormatChoice.of(template).parser(true, "");
    }
  }

  private static void check(Family family, String answer, String expected) {
    String text = answer.replace('|', '\n').replace("<\npython_tag\n>", "<|python_tag|>");
    String whole = ParsedAnswer.of(family.parser(), List.of(text)).toString();
    assertThat(whole.replace('\n', '|')).isEqualTo(expected);
    sameHoweverCut(family, text, whole);
  }

  private static void sameHoweverCut(Family family, String text, String whole) {
    for (int cut = 0; cut <= text.length(); cut++) {
      if (isBoundary(text, cut)) {
        List<String> pieces = List.of(text.substring(0, cut), text.substring(cut));
        assertThat(ParsedAnswer.of(family.parser(), pieces))
            .as("%s cut at %d", text, cut)
            .hasToString(whole);
      }
    }
    List<String> single = text.codePoints().mapToObj(Character::toString).toList();
    assertThat(ParsedAnswer.of(family.parser(), single)).as(text).hasToString(whole);
  }

  private static boolean isBoundary(String text, int cut) {
    return cut == 0 || cut == text.length() || !Character.isLowSurrogate(text.charAt(cut));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "Hello.| ~ T[Hello.|]",
        "` |`~T[ |]",
        "<tool_call>|{\"name\": \"f\", \"arguments\": {\"a\": [1, \"x\"]}}|</tool_call>"
            + "~C[f]A[{\"a\": [1, \"x\"]}]",
        "||<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>|~C[f]A[{}]",
        "Wait.|<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>~T[Wait.|]C[f]A[{}]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>| Done. " + "~C[f]A[{}]T[Done.]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}|</tool_call>|"
            + "<tool_call>{\"name\":\"g\",\"arguments\":{\"b\":2}}</tool_call>"
            + "~C[f]A[{}]C[g]A[{\"b\":2}]",
        // Lists, other words, other orders, other pairs.
        "<tool_call>[{\"name\":\"f\",\"arguments\":{}},"
            + " {\"name\":\"g\",\"arguments\":{}}]</tool_call>~C[f]A[{}]C[g]A[{}]",
        "<tool_call>{\"name\":\"f\",\"parameters\":{\"a\":1}}</tool_call>~C[f]A[{\"a\":1}]",
        "<tool_call>{\"arguments\":{\"a\":1}, \"name\":\"f\"}</tool_call>~C[f]A[{\"a\":1}]",
        "<tool_call>{\"id\":7,\"name\":\"f\",\"arguments\":{},\"x\":[{}]}</tool_call>~C[f]A[{}]",
        "<tool_call>{\"name\":\"f\"}</tool_call>~C[f]A[{}]",
        "<tool_call>{\"name\":\"\\u0066\\n\",\"arguments\":{}}</tool_call>~C[f|]A[{}]",
        // Repaired strings.
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"1|2\\d\\'é😀\"}}</tool_call>"
            + "~C[f]A[{\"a\":\"1\\n2\\\\d'é😀\"}]",
        // Cut off.
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"1~C[f]A[{\"a\":\"1]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":tr~C[f]A[{\"a\":]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}|</tool~C[f]A[{}]",
        "<tool_call>{\"name\":\"f\",\"arg~T[<tool_call>{\"name\":\"f\",\"arg]",
        "A <tool_~T[A <tool_]",
        // No calls.
        "<tool_call>{\"name\":\"\",\"arguments\":{}}</tool_call>"
            + "~T[<tool_call>{\"name\":\"\",\"arguments\":{}}</tool_call>]",
        "<tool_call>{\"name\":\"f\",\"arguments\":\"x\"}"
            + "~T[<tool_call>{\"name\":\"f\",\"arguments\":\"x\"}]",
        "<tool_call>{}</tool_call>~T[<tool_call>{}</tool_call>]",
        "<tool_call>[]</tool_call>~T[<tool_call>[]</tool_call>]",
        "|<tool_call>oops~T[|<tool_call>oops]",
        "<tool_call>|<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"
            + "~T[<tool_call>|]C[f]A[{}]",
        "<tool<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>~T[<tool]C[f]A[{}]",
        // Wrong in the middle.
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\" 1}}</tool_call>"
            + "~C[f]A[{\"a\" ]T[1}}</tool_call>]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}} and <tool_call>~C[f]A[{}]T[and <tool_call>]",
        // Reasoning.
        "<think>|a  b|c|</think>||Yes ~R[a  b|c]T[Yes]",
        "|<think></think>Yes~T[Yes]",
        "<think>a <b></think><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>~R[a"
            + " <b>]C[f]A[{}]",
        "<think>a </thi~R[a </thi]",
        "<think> a <tool_call> </think> ~R[a <tool_call>]",
        "The <think> tag~T[The <think> tag]",
      })
  void hermes(String answer, String expected) {
    check(Family.HERMES, answer, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{\"name\": \"f\", \"parameters\": {\"a\": -1.5e3}}~C[f]A[{\"a\": -1.5e3}]",
        "<|python_tag|>{\"name\":\"f\",\"parameters\":{}}~C[f]A[{}]",
        "Well. <|python_tag|>{\"name\":\"f\",\"parameters\":{}}~T[Well. ]C[f]A[{}]",
        "{\"name\":\"f\",\"parameters\":{}}; {\"name\":\"g\",\"parameters\":{}}~C[f]A[{}]C[g]A[{}]",
        "{\"name\":\"f\",\"parameters\":{}}|{\"name\":\"g\",\"parameters\":{}}|~C[f]A[{}]C[g]A[{}]",
        "{\"name\":\"Bob\", \"age\": 3}~T[{\"name\":\"Bob\", \"age\": 3}]",
        "{\"a\": 1}~T[{\"a\": 1}]",
        "| {\"a~T[| {\"a]",
        "See {\"name\":\"f\",\"parameters\":{}}~T[See {\"name\":\"f\",\"parameters\":{}}]",
        "{\"name\":\"f\",\"parameters\":{}} is it~C[f]A[{}]T[is it]",
        "{\"name\":\"f\",\"parameters\":{}}; {\"x\":1}~C[f]A[{}]T[; {\"x\":1}]",
        "{\"name\":\"f\",\"parameters\":{\"a\":01}}~C[f]A[{\"a\":0]T[1}}]",
      })
  void llama(String answer, String expected) {
    check(Family.LLAMA, answer, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{\"a\":null}}"
            + ",|{\"name\":\"g\",\"arguments\":{}}]"
            + "~C[f]A[{\"a\":null}]C[g]A[{}]",
        "[TOOL_CALLS] [{\"name\":\"f\",\"arguments\":{},\"id\":\"123456789\"}]~C[f]A[{}]",
        "[{\"name\":\"f\",\"arguments\":{}}]~C[f]A[{}]",
        "[TOOL_CALLS]get_w[ARGS]{\"c\": \"[TOOL_CALLS]\"}~C[get_w]A[{\"c\": \"[TOOL_CALLS]\"}]",
        "[TOOL_CALLS]f[CALL_ID]abc123[ARGS]"
            + " {}[TOOL_CALLS]g[ARGS]{\"a\":1}~C[f]A[{}]C[g]A[{\"a\":1}]",
        "[TOOL_CALLS]f{}~C[f]A[{}]",
        "[1, 2]~T[[1, 2]]",
        "[[TOOL_CALLS]f{}~T[[]C[f]A[{}]",
        "[TOOL_CALLS]f[ARG]{}~T[[TOOL_CALLS]f[ARG]{}]",
        "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}, {\"na~C[f]A[{}]T[, {\"na]",
        "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}, ~C[f]A[{}]",
        "[TOOL_CALLS]~T[[TOOL_CALLS]]",
      })
  void mistral(String answer, String expected) {
    check(Family.MISTRAL, answer, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '§',
      value = {
        "[f(a=1, b='x')]~C[f]A[{\"a\":1,\"b\":\"x\"}]",
        "[f(), g.h( a = True , b=[None, {'k': 'it\\'s \"x\"'}])]"
            + "~C[f]A[{}]C[g.h]A[{\"a\":true,\"b\":[null, {\"k\": \"it's \\\"x\\\"\"}]}]",
        "```tool_code|[f(a=\"\\x41\\u0042|\")]|```~C[f]A[{\"a\":\"\\u0041\\u0042\\n\"}]",
        "```tool_code|f(a=1)|g()|```| Done~C[f]A[{\"a\":1}]C[g]A[{}]T[Done]",
        "I see.|```tool_code|f(a=1)|```~T[I see.|]C[f]A[{\"a\":1}]",
        "````tool_code|f(a=1)|```~T[`]C[f]A[{\"a\":1}]",
        "```python|f(a=1)|```~T[```python|f(a=1)|```]",
        "[link](x)~T[[link](x)]",
        "[see (1)]~T[[see (1)]]",
        "[f(1)]~T[[f(1)]]",
        "[f(a=1, 2)]~C[f]A[{\"a\":1]T[, 2)]]",
        "[f(a='x~C[f]A[{\"a\":\"x]",
        "[f(a=1~C[f]A[{\"a\":1]",
        "[a-b()]~C[a-b]A[{}]",
        "[-b()]~T[[-b()]]",
        "[f g()]~T[[f g()]]",
      })
  void python(String answer, String expected) {
    check(Family.GEMMA, answer, expected);
  }

  @Test
  void reasoning_that_the_prompt_has_opened_goes_on() {
    ToolFormat format = FormatChoice.of("<tool_call><think>");
    String answer = "\nwell\n</think>\n\nYes";
    assertThat(ParsedAnswer.of(format.parser(true, "assistant\n<think>\n"), List.of(answer)))
        .hasToString("R[well]T[Yes]");
    assertThat(ParsedAnswer.of(format.parser(true, "assistant\n"), List.of(answer)))
        .hasToString("T[" + answer + "]");
    assertThat(
            ParsedAnswer.of(
                FormatChoice.of("none").parser(true, "<think>"), List.of("<think>a</think>b")))
        .hasToString("T[<think>a</think>b]");
  }

  @Test
  void calls_are_text_where_they_are_not_looked_for() {
    String call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
    AnswerParser parser = FormatChoice.of("<tool_call>").parser(false, "");
    assertThat(ParsedAnswer.of(parser, List.of(call))).hasToString("T[" + call + "]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "`Hello `~`T[Hello ]`",
        "`Hello <tool~`~`T[Hello <tool~]`",
        "Hello <tool~T[Hello ]",
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"b~C[f]A[{\"a\":\"b]",
        "<tool_call>{\"name\":\"f\",\"arg~``",
      })
  void only_what_may_begin_a_call_is_held_back(String text, String expected) {
    assertThat(ParsedAnswer.soFar(Family.HERMES.parser(), text)).hasToString(expected);
  }

  private static final List<String> FRAGMENTS =
      List.of(
          "<tool_call>",
          "</tool_call>",
          "<tool_",
          "call>",
          "<|python_tag|>",
          "[TOOL_CALLS]",
          "[ARGS]",
          "```tool_code",
          "```",
          "<think>",
          "</think>",
          "\n",
          " ",
          "{",
          "}",
          "[",
          "]",
          "(",
          ")",
          ",",
          ";",
          "=",
          "f",
          "{\"name\": \"f\", \"arguments\": ",
          "\"parameters\": ",
          "\"a\": \"x\\n",
          "\"",
          "'",
          "\\",
          "1",
          "-0.5e1",
          "tru",
          "true",
          "None",
          "é",
          "😀",
          "\u0001",
          "f(a=",
          "{\"name\":\"g\",\"parameters\":{\"b\":[1,{\"c\":null}]}}");

  @ParameterizedTest
  @EnumSource
  void whatever_comes_is_the_same_however_it_is_cut(Family family) {
    long seed = Long.getLong("seed", 7);
    for (int run = 0; run < 1_000; run++) {
      Random random = new Random(seed * 100_000 + run);
      StringBuilder answer = new StringBuilder();
      for (int i = random.nextInt(12); i >= 0; i--) {
        answer.append(FRAGMENTS.get(random.nextInt(FRAGMENTS.size())));
      }
      String text = answer.toString();
      String whole = ParsedAnswer.of(family.parser(), List.of(text)).toString();
      sameHoweverCut(family, text, whole);
      assertThat(ParsedAnswer.of(family.parser(), pieces(text, random)))
          .as("-Dseed=%d, run %d: %s", seed, run, text)
          .hasToString(whole);
    }
  }

  private static List<String> pieces(String text, Random random) {
    List<String> pieces = new ArrayList<>();
    int from = 0;
    while (from < text.length()) {
      int to = Math.min(text.length(), from + 1 + random.nextInt(5));
      to = isBoundary(text, to) ? to : to + 1;
      pieces.add(text.substring(from, to));
      from = to;
    }
    return pieces;
  }
}
