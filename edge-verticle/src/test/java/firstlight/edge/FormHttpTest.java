package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.Grammar;
import firstlight.model.SchemaGrammar;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: what the form of an answer is to be reaches the replica as a grammar, or is refused. */
class FormHttpTest {
  private static final String SCHEMA =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}";
  private static final String OF_SCHEMA =
      SchemaGrammar.of(
              Map.of(
                  "type",
                  "object",
                  "properties",
                  Map.of("a", Map.of("type", "integer")),
                  "required",
                  List.of("a")))
          .toString();
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("").saying("{}");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  private static String constraint(String more) throws Exception {
    edge.replica.forget();
    EdgeFixture.Answer chat = edge.chat(",\"max_tokens\":1" + more);
    assertThat(chat.status()).as(chat.http().body()).isEqualTo(200);
    assertThat(chat.header(IgnoredFields.HEADER)).isEmpty();
    return edge.replica.nextSubmit().getConstraint();
  }

  private static String structured(String kind) throws Exception {
    String constraint = constraint(",\"structured_outputs\":{" + kind + "}");
    edge.completion("\"prompt\":\"x\",\"max_tokens\":1,\"structured_outputs\":{" + kind + "}");
    assertThat(edge.replica.nextSubmit().getConstraint()).isEqualTo(constraint);
    return constraint;
  }

  @Test
  void a_response_format_is_a_grammar() throws Exception {
    assertThat(constraint("")).isEmpty();
    assertThat(constraint(",\"response_format\":{\"type\":\"text\"}")).isEmpty();
    assertThat(constraint(",\"response_format\":{\"type\":\"json_object\"}"))
        .isEqualTo(SchemaGrammar.anyObject().toString());
    assertThat(
            constraint(
                ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
                    + "{\"name\":\"n\",\"strict\":true,\"schema\":"
                    + SCHEMA
                    + "}}"))
        .isEqualTo(OF_SCHEMA);
  }

  @Test
  void structured_outputs_of_vllm_are_a_grammar_in_both_dialects() throws Exception {
    assertThat(structured("\"json\":" + SCHEMA)).isEqualTo(OF_SCHEMA);
    assertThat(structured("\"json\":\"" + SCHEMA.replace("\"", "\\\"") + "\""))
        .isEqualTo(OF_SCHEMA);
    assertThat(structured("\"json_object\":true")).isEqualTo(SchemaGrammar.anyObject().toString());
    assertThat(structured("\"regex\":\"[a-c]+\"")).isEqualTo(Grammar.ofRegex("[a-c]+").toString());
    assertThat(structured("\"choice\":[\"yes\",\"no\"]"))
        .isEqualTo(Grammar.ofTexts(List.of("yes", "no")).toString());
    assertThat(structured("\"grammar\":\"root ::= \\\"x\\\"\""))
        .isEqualTo(Grammar.parse("root ::= \"x\"").toString());
  }

  @Test
  void the_older_names_of_vllm_mean_the_same() throws Exception {
    assertThat(constraint(",\"guided_json\":" + SCHEMA)).isEqualTo(OF_SCHEMA);
    assertThat(constraint(",\"guided_regex\":\"a|b\""))
        .isEqualTo(Grammar.ofRegex("a|b").toString());
    assertThat(constraint(",\"guided_choice\":[\"yes\"]"))
        .isEqualTo(Grammar.ofTexts(List.of("yes")).toString());
    assertThat(constraint(",\"guided_grammar\":\"root ::= [0-9]\""))
        .isEqualTo(Grammar.parse("root ::= [0-9]").toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "response_format":"json" | response_format
          "response_format":{"type":"yaml"} | response_format.type
          "response_format":{"type":"json_schema"} | response_format.json_schema
          "response_format":{"type":"json_schema","json_schema":{"name":"n"}} | response_format.json_schema.schema
          "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":7}} | response_format.json_schema.schema
          "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"thing"}}} | response_format
          "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"$ref":"http://x/y"}}} | response_format
          "response_format":{"type":"json_object"},"guided_regex":"a" | response_format
          "structured_outputs":{} | structured_outputs
          "structured_outputs":{"regex":"a","choice":["b"]} | structured_outputs
          "structured_outputs":{"regex":"(a"} | structured_outputs.regex
          "structured_outputs":{"regex":5} | structured_outputs.regex
          "structured_outputs":{"choice":[]} | structured_outputs.choice
          "structured_outputs":{"choice":"a"} | structured_outputs.choice
          "structured_outputs":{"grammar":"root :: x"} | structured_outputs.grammar
          "structured_outputs":{"json":"{"} | structured_outputs.json
          "structured_outputs":{"structural_tag":"x"} | structured_outputs
          "guided_regex":"(?=a)" | guided_regex
          "guided_regex":"([^a-z]{90000}){9}" | guided_regex
          "guided_grammar":"root ::= root \\"x\\"" | guided_grammar
          "structured_outputs":{"grammar":"root ::= \\"x\\" root"} | structured_outputs.grammar
          "tools":[{"type":"function","function":{"name":"w"}}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"thing"}}} | response_format
          "tools":[{"type":"function","function":{"name":"w","strict":true,"parameters":{"type":"thing"}}}],"tool_choice":"required","response_format":{"type":"json_object"} | tools
          "tools":[{"type":"web_search"}] | tools[0].type
          "tools":[{"type":"function","function":{"name":""}}] | tools[0].function.name
          "tools":[{"type":"function","function":{"name":"w","parameters":[]}}] | tools[0].function.parameters
          "tools":[{"type":"function","function":{"name":"w","strict":1}}] | tools[0].function.strict
          "tool_choice":"required" | tool_choice
          "tool_choice":"any" | tool_choice
          "tool_choice":7 | tool_choice
          "tool_choice":{"type":"function"} | tool_choice.function
          "tool_choice":{"type":"function","function":{"name":"w"}} | tool_choice
          "tool_choice":{"type":"allowed_tools"} | tool_choice.allowed_tools
          "tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[]}} | tool_choice.allowed_tools.tools
          "parallel_tool_calls":"no" | parallel_tool_calls
          """)
  void what_cannot_be_kept_to_is_refused_by_name(String fields, String param) throws Exception {
    for (String more : List.of(",", ",\"stream\":true,")) {
      EdgeFixture.Answer answer = edge.chat(more + fields);

      assertThat(answer.status()).as(answer.http().body()).isEqualTo(400);
      assertThat(answer.json().at("/error/param").asText()).isEqualTo(param);
    }
  }

  @Test
  void a_schema_of_too_many_rules_is_refused_before_it_reaches_a_replica() throws Exception {
    String properties =
        IntStream.range(0, 2_500)
            .mapToObj("\"p%1$d\":{\"const\":%1$d}"::formatted)
            .collect(Collectors.joining(","));
    EdgeFixture.Answer answer =
        edge.chat(
            ",\"stream\":true,\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"
                + "\"name\":\"n\",\"schema\":{\"properties\":{%s}}}}".formatted(properties));

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(400);
    assertThat(answer.json().at("/error/message").asText())
        .startsWith("response_format cannot be kept to: the grammar has more than 2000 rules");
    assertThat(edge.replica.running()).isZero();
  }

  @Test
  void a_schema_that_cannot_be_kept_to_is_refused_with_the_place_and_the_reason() throws Exception {
    EdgeFixture.Answer answer =
        edge.chat(
            ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\","
                + "\"schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"thing\"}}}}}");

    assertThat(answer.json().at("/error/message").asText())
        .contains("response_format", "thing", "#/properties/a");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",\"tool_choice\":\"none\"",
        ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"v\"}}",
        ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\","
            + "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"w\"}}]}}"
      })
  void the_template_shows_all_tools_whichever_may_be_called(String choice) throws Exception {
    edge.replica.forget();
    EdgeFixture.Answer answer =
        edge.chat(
            ",\"max_tokens\":1,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"w\"}},"
                + "{\"type\":\"function\",\"function\":{\"name\":\"v\"}}]"
                + choice);

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    assertThat(edge.promptOf(edge.replica.nextSubmit())).startsWith("<w><v>[user]hi");
  }
}
