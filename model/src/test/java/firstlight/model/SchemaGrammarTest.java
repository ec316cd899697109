package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchemaGrammarTest {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static Grammar grammar(String schema) {
    try {
      return SchemaGrammar.of(JSON.readValue(schema.replace('\'', '"'), Object.class));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean allows(String schema, String json) {
    Grammar grammar = grammar(schema);
    // As it goes to a replica: as text.
    return GrammarTest.matches(Grammar.parse(grammar.toString()), json.replace('\'', '"'));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        // Types.
        "{'type':'null'} ~ null ~ true",
        "{'type':'boolean'} ~ false ~ true",
        "{'type':'boolean'} ~ 0 ~ false",
        "{'type':['integer','null']} ~ null ~ true",
        "{'type':['integer','null']} ~ -12 ~ true",
        "{'type':['integer','null']} ~ 1.5 ~ false",
        "{'type':'integer'} ~ 012 ~ false",
        "{'type':'number'} ~ -0.5e+10 ~ true",
        "{'type':'number'} ~ .5 ~ false",
        "true ~ {'a':[1,{}]} ~ true",
        "{} ~ 'x' ~ true",
        // Strings.
        "{'type':'string'} ~ 'a\\n\\u00e9é😀' ~ true",
        "{'type':'string'} ~ '\\ud83d' ~ false",
        "{'type':'string','minLength':2,'maxLength':3} ~ 'a' ~ false",
        "{'type':'string','minLength':2,'maxLength':3} ~ '\\nb' ~ true",
        "{'type':'string','minLength':2,'maxLength':3} ~ 'abcd' ~ false",
        "{'type':'string','pattern':'^[a-c]+$'} ~ 'abc' ~ true",
        "{'type':'string','pattern':'^[a-c]+$'} ~ 'abd' ~ false",
        "{'type':'string','pattern':'b'} ~ 'abc' ~ true",
        "{'type':'string','pattern':'b'} ~ 'acc' ~ false",
        "{'type':'string','pattern':'^a|b$'} ~ 'ax' ~ true",
        "{'type':'string','pattern':'^a|b$'} ~ 'xbx' ~ false",
        "{'type':'string','pattern':'^[a-z]+$','maxLength':2} ~ 'ab' ~ true",
        "{'type':'string','pattern':'^[a-z]+$','maxLength':2} ~ 'abc' ~ false",
        "{'type':'string','pattern':'^x[0-9]*y$','minLength':4} ~ 'x1y' ~ false",
        "{'type':'string','pattern':'^x[0-9]*y$','minLength':4} ~ 'x12y' ~ true",
        "{'type':'string','format':'email'} ~ 'a-b.c_d@e.org' ~ true",
        "{'type':'string','format':'date'} ~ '2026-02-28' ~ true",
        "{'type':'string','format':'date'} ~ '2026-02-30' ~ false",
        "{'type':'string','format':'uuid'} ~ '123e4567-e89b-12d3-a456-426614174000' ~ true",
        // Numbers.
        "{'type':'integer','minimum':-5,'maximum':105} ~ -5 ~ true",
        "{'type':'integer','minimum':-5,'maximum':105} ~ -6 ~ false",
        "{'type':'integer','minimum':-5,'maximum':105} ~ 105 ~ true",
        "{'type':'integer','minimum':-5,'maximum':105} ~ 106 ~ false",
        "{'type':'integer','exclusiveMinimum':9} ~ 9 ~ false",
        "{'type':'integer','exclusiveMinimum':9} ~ 10 ~ true",
        "{'type':'number','minimum':0.25,'maximum':1} ~ 0.24 ~ false",
        "{'type':'number','minimum':0.25,'maximum':1} ~ 0.250 ~ true",
        "{'type':'number','minimum':0.25,'maximum':1} ~ 1.0 ~ true",
        "{'type':'number','minimum':0.25,'maximum':1} ~ 1.01 ~ false",
        "{'type':'integer','maximum':3,'exclusiveMaximum':9} ~ 5 ~ false",
        "{'type':'integer','maximum':9,'exclusiveMaximum':9} ~ 9 ~ false",
        "{'type':'integer','minimum':3,'exclusiveMinimum':1} ~ 2 ~ false",
        "{'type':'number','exclusiveMaximum':0} ~ 0 ~ false",
        "{'type':'number','exclusiveMaximum':0} ~ -0.1 ~ true",
        "{'type':'number','multipleOf':0.01} ~ 3.14 ~ true",
        "{'type':'number','multipleOf':0.01} ~ 3.141 ~ false",
        "{'type':'integer','multipleOf':7,'minimum':0,'maximum':50} ~ 49 ~ true",
        "{'type':'integer','multipleOf':7,'minimum':0,'maximum':50} ~ 48 ~ false",
        // Values.
        "{'enum':['a',1,null,{'b':[]}]} ~ {'b':[]} ~ true",
        "{'enum':['a',1,null]} ~ 'b' ~ false",
        "{'type':'string','enum':['a',1]} ~ 1 ~ false",
        "{'const':'é'} ~ 'é' ~ true",
        // Arrays.
        "{'type':'array','items':{'type':'integer'}} ~ [] ~ true",
        "{'type':'array','items':{'type':'integer'}} ~ [1, 2,3] ~ true",
        "{'type':'array','items':{'type':'integer'}} ~ [1,] ~ false",
        "{'type':'array','items':{'type':'integer'},'minItems':2,'maxItems':3} ~ [1] ~ false",
        "{'type':'array','items':{'type':'integer'},'minItems':2,'maxItems':3} ~ [1,2,3] ~ true",
        "{'type':'array','items':{'type':'integer'},'minItems':2,'maxItems':3} ~ [1,2,3,4] ~ false",
        "{'prefixItems':[{'const':1},{'const':2}],'items':false,'minItems':1} ~ [1] ~ true",
        "{'prefixItems':[{'const':1},{'const':2}],'items':false,'minItems':1} ~ [1,2] ~ true",
        "{'prefixItems':[{'const':1},{'const':2}],'items':false,'minItems':1} ~ [2] ~ false",
        "{'prefixItems':[{'const':1}],'items':{'const':3},'minItems':3} ~ [1,3] ~ false",
        "{'prefixItems':[{'const':1}],'items':{'const':3},'minItems':3} ~ [1,3,3] ~ true",
      })
  void a_value_is_allowed_or_not(String schema, String json, boolean allowed) {
    assertThat(allows(schema, json)).isEqualTo(allowed);
  }

  private static final String PERSON =
      "{'type':'object','properties':{'name':{'type':'string'},'age':{'type':'integer'},"
          + "'mail':{'type':'string'}},'required':['name','mail'],'additionalProperties':false}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{'name':'a','age':1,'mail':'b'} ~ true",
        "{|  'name': 'a',|  'mail': 'b'|} ~ true",
        "{'name':'a','age':1} ~ false",
        "{'mail':'b','name':'a'} ~ false",
        "{'name':'a','mail':'b','more':1} ~ false",
        "{} ~ false",
      })
  void properties_come_in_order_and_all_that_are_required(String json, boolean allowed) {
    assertThat(allows(PERSON, json.replace('|', '\n'))).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{'properties':{'a':{},'b':{}}} ~ {} ~ true",
        "{'properties':{'a':{},'b':{}}} ~ {'b':1} ~ true",
        "{'properties':{'a':{},'b':{}}} ~ {'a':1,'b':2} ~ true",
        "{'properties':{'a':{},'b':{}}} ~ {,'b':2} ~ false",
        "{'properties':{'a':{}},'additionalProperties':{'type':'null'}} ~ {'a':1,'x':null} ~ true",
        "{'properties':{'a':{}},'additionalProperties':{'type':'null'}} ~ {'x':null,'y':null} ~"
            + " true",
        "{'properties':{'a':{}},'additionalProperties':{'type':'null'}} ~ {'x':1} ~ false",
        "{'properties':{'ab':{}},'additionalProperties':true} ~ {'x':0,'ab':1} ~ false",
        "{'properties':{'ab':{}},'additionalProperties':true} ~ {'abc':0,'a':1,'':2} ~ true",
        "{'type':'object','required':['q']} ~ {'q':[1]} ~ true",
        "{'type':'object','required':['q']} ~ {} ~ false",
        "{'type':'object'} ~ {'any':'thing'} ~ true",
        "{'type':'object','minProperties':1} ~ {} ~ false",
        "{'type':'object','additionalProperties':{'const':1},'maxProperties':1} ~ {'a':1,'b':1} ~"
            + " false",
        "{'type':'object','propertyNames':{'pattern':'^x'}} ~ {'xa':1} ~ true",
        "{'type':'object','propertyNames':{'pattern':'^x'}} ~ {'a':1} ~ false",
        "{'patternProperties':{'^x':{'const':1}},'additionalProperties':false} ~ {'xy':1} ~ true",
        "{'type':'object','properties':{},'additionalProperties':false} ~ {} ~ true",
        "{'type':'object','properties':{},'additionalProperties':false} ~ {'a':1} ~ false",
      })
  void other_properties_come_last_where_they_are_allowed(
      String schema, String json, boolean allowed) {
    assertThat(allows(schema, json)).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{'anyOf':[{'type':'integer'},{'type':'string'}]} ~ 'a' ~ true",
        "{'anyOf':[{'type':'integer'},{'type':'string'}]} ~ null ~ false",
        "{'oneOf':[{'type':'integer'},{'type':'string'}]} ~ 3 ~ true",
        "{'type':'object','properties':{'a':{}},'required':['a'],"
            + "'anyOf':[{'required':['b']},{'required':['c']}]} ~ {'a':1,'c':2} ~ true",
        "{'allOf':[{'type':'number'},{'type':'integer'},{'minimum':3},{'minimum':5}]} ~ 4 ~ false",
        "{'allOf':[{'type':'number'},{'type':'integer'},{'minimum':3},{'minimum':5}]} ~ 5 ~ true",
        "{'allOf':[{'$ref':'#/$defs/a'},{'required':['x']}],'$defs':{'a':{'type':'object',"
            + "'properties':{'x':{'const':1}}}}} ~ {} ~ false",
        "{'$ref':'#/$defs/t','$defs':{'t':{'type':'object','properties':{'v':{'type':'integer'},"
            + "'next':{'anyOf':[{'$ref':'#/$defs/t'},{'type':'null'}]}},'required':['v','next'],"
            + "'additionalProperties':false}}} ~ {'v':1,'next':{'v':2,'next':null}} ~ true",
        "{'$ref':'#/$defs/t','$defs':{'t':{'type':'object','properties':{'v':{'type':'integer'},"
            + "'next':{'anyOf':[{'$ref':'#/$defs/t'},{'type':'null'}]}},'required':['v','next'],"
            + "'additionalProperties':false}}} ~ {'v':1,'next':{'v':2}} ~ false",
        "{'type':'array','items':{'$ref':'#'}} ~ [[],[[]]] ~ true",
      })
  void schemas_are_put_together(String schema, String json, boolean allowed) {
    assertThat(allows(schema, json)).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{'type':'object','properties':{'a':{'not':{}}}} ~ schema at #/properties/a: the keyword"
            + " not",
        "{'type':'objekt'} ~ there is no type 'objekt'",
        "{'type':'string','format':'iban'} ~ format must be one of date, date-time",
        "{'type':'string','pattern':'a(?=b)'} ~ look-around is not supported",
        "{'type':'string','pattern':'(a)\\\\1'} ~ is not supported",
        "{'type':'string','pattern':'[a'} ~ ends too early",
        "{'type':'string','pattern':'a**'} ~ nothing to repeat",
        "{'type':'string','pattern':'a(b$)'} ~ anchors inside groups",
        "{'type':'string','pattern':'^(ab|c)*$','maxLength':4} ~ write the lengths into the"
            + " pattern",
        "{'type':'string','minLength':3,'maxLength':2} ~ minLength is above maxLength",
        "{'type':'string','pattern':'^abc$','maxLength':2} ~ no text of that form",
        "{'type':'integer','minimum':3,'maximum':2} ~ there is no such number",
        "{'type':'integer','minimum':'3'} ~ minimum must be a number",
        "{'type':'number','multipleOf':0.3} ~ multipleOf is supported with a minimum",
        "{'type':'array','uniqueItems':true} ~ uniqueItems is not supported",
        "{'type':'array','minItems':-1} ~ minItems must be an integer",
        "{'enum':[]} ~ enum must be a list",
        "{'type':'string','enum':[1]} ~ no value of enum has the type",
        "{'oneOf':[{'type':'object'},{'type':'object'}]} ~ use anyOf",
        "{'$ref':'http://example.com/x'} ~ only this schema itself",
        "{'$ref':'#/$defs/none'} ~ there is nothing at",
        "{'$ref':'#'} ~ can never come to an end",
        "{'allOf':[{'type':'string'},{'type':'integer'}]} ~ no type is allowed by all",
        "{'allOf':[{'pattern':'a'},{'pattern':'b'}]} ~ pattern stands in two schemas",
        "{'properties':{'a':false}} ~ schema at #/properties/a: false allows no value",
        "{'required':['a'],'additionalProperties':false} ~ the required property 'a' is not"
            + " described",
        "{'properties':{'a':{}},'minProperties':1} ~ minProperties and maxProperties are supported",
        "{'properties':[]} ~ properties must be an object",
        "{'anyOf':[]} ~ anyOf must be a list of at least one schema",
        "7 ~ a schema must be an object or a boolean",
        "{'type':'object','properties':{'a':{'$ref':'#'}},'required':['a']} ~ can never come to an"
            + " end",
      })
  void what_cannot_be_kept_to_is_refused_with_the_reason(String schema, String reason) {
    assertThatThrownBy(() -> new AutomatonBuilder(grammar(schema)))
        .isInstanceOf(InvalidGrammar.class)
        .hasMessageContaining(reason);
  }

  @Test
  void notes_and_unknown_words_change_nothing() {
    assertThat(
            allows(
                "{'$schema':'x','title':'t','description':'d','default':3,'x-own':1,'const':2}",
                "2"))
        .isTrue();
  }

  @Test
  void a_schema_that_is_nested_without_end_is_refused() {
    String deep = "{'items':".repeat(300) + "{}" + "}".repeat(300);
    assertThatThrownBy(() -> grammar(deep)).hasMessageContaining("nested deeper than 100");
  }

  /** Goal: objects of many properties reach a replica. Method: as text, and back. */
  @Test
  void many_properties_nest_no_deeper_than_few() {
    String properties =
        IntStream.range(0, 600)
            .mapToObj("'p%1$d':{'const':%1$d}"::formatted)
            .collect(Collectors.joining(","));
    String schema = "{'type':'object','properties':{%s}".formatted(properties);
    for (String more : List.of("}", ",'required':['p299']}", ",'required':['p0','p299']}")) {
      boolean first = more.contains("p0");
      assertThat(allows(schema + more, "{'p0':0,'p7':7,'p299':299}")).isTrue();
      assertThat(allows(schema + more, "{'p9':9,'p299':299}")).isEqualTo(!first);
      assertThat(allows(schema + more, "{'p9':9,'p7':7,'p299':299}")).isFalse();
      assertThat(allows(schema + more, "{'p0':0,'p298':298}")).isEqualTo(more.equals("}"));
    }
  }

  @Test
  void thousands_of_multiples_leave_few_ways_open() {
    String schema = "{'type':'integer','multipleOf':2,'minimum':-3999,'maximum':12001}";
    for (String number : List.of("-3998", "-2", "0", "10", "100", "1000", "12000")) {
      assertThat(allows(schema, number)).as(number).isTrue();
    }
    for (String number : List.of("-4000", "-1", "-0", "1", "01", "12001", "12002", "")) {
      assertThat(allows(schema, number)).as(number).isFalse();
    }
  }

  /** RFC 5321, section 4.5.3.1.1. */
  @Test
  void the_local_part_of_an_address_has_at_most_64_octets() {
    String part = "x".repeat(20);
    String three = String.join(".", part, part, part);
    String schema = "{'type':'string','format':'email'}";
    assertThat(allows(schema, "'%s@e.org'".formatted(three))).isTrue();
    assertThat(allows(schema, "'%s.%s@e.org'".formatted(three, part))).isFalse();
  }

  @Test
  void a_long_name_is_told_from_others() {
    String name = "n".repeat(400);
    String schema =
        "{'type':'object','properties':{'%s':{'const':1}},'additionalProperties':true}"
            .formatted(name);
    assertThat(allows(schema, "{'%s':1,'%sn':2,'nm':3}".formatted(name, name))).isTrue();
    assertThat(allows(schema, "{'%s':2}".formatted(name))).isFalse();
    assertThat(allows(schema, "{'%s':2}".formatted(name.substring(1)))).isTrue();
  }

  @Test
  void a_pointer_may_have_escapes() {
    assertThat(allows("{'$ref':'#/$defs/a~1b~0','$defs':{'a/b~':{'const':1}}}", "1")).isTrue();
  }

  @Test
  void any_object_is_an_object() {
    assertThat(GrammarTest.matches(SchemaGrammar.anyObject(), "{\"a\": [1, null]}")).isTrue();
    assertThat(GrammarTest.matches(SchemaGrammar.anyObject(), "[]")).isFalse();
  }
}
