package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.GivenFeedback;
import firstlight.protocol.MeshException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FeedbackShapesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'traceId':'resp_1','name':'useful','value':1,'dataType':'BOOLEAN'"
            + "|resp_1||boolean|1.0|",
        "'traceId':'resp_1','name':'stars','value':4.5|resp_1||numeric|4.5|",
        "'traceId':'r','observationId':'msg_1','name':'tone','value':'warm',"
            + "'dataType':'CATEGORICAL'||msg_1|categorical||warm",
        "'traceId':'resp_1','name':'note','value':'long words','dataType':'TEXT'"
            + "|resp_1||text||long words",
      })
  void a_score_of_langfuse(
      String fields, String response, String item, String type, Double number, String text) {
    GivenFeedback read = langfuse(fields);

    assertThat(read.response()).isEqualTo(response == null ? "" : response);
    assertThat(read.item()).isEqualTo(item == null ? "" : item);
    assertThat(read.dataType()).isEqualTo(type);
    assertThat(read.number()).isEqualTo(number);
    assertThat(read.text()).isEqualTo(text);
    assertThat(read.source()).isEqualTo("langfuse");
  }

  @Test
  void a_score_of_langfuse_with_all_it_can_say() {
    GivenFeedback read =
        langfuse(
            "'id':'s1','sessionId':'conv_1','name':'n','value':2,'comment':'c','source':'API',"
                + "'environment':'prod','metadata':{'a':'b','deep':{'x':[1]}},'queueId':'q'");

    assertThat(read.feedback()).isEqualTo("s1");
    assertThat(read.conversation()).isEqualTo("conv_1");
    assertThat(read.comment()).isEqualTo("c");
    assertThat(read.source()).isEqualTo("API");
    assertThat(read.metadata())
        .containsEntry("environment", "prod")
        .containsEntry("a", "b")
        .containsEntry("deep", "{\"x\":[1]}");
  }

  @Test
  void a_score_of_a_dataset_run_is_refused() {
    assertThatThrownBy(() -> langfuse("'datasetRunId':'d','name':'n','value':2"))
        .isInstanceOf(MeshException.class)
        .hasMessageContaining("dataset");
  }

  @Test
  void a_feedback_of_langsmith() {
    GivenFeedback read =
        langSmith(
            "'id':'f1','run_id':'resp_1','trace_id':'t','key':'correct','score':true,"
                + "'value':'ignored','comment':'c','correction':{'answer':'42'},"
                + "'feedback_source':{'type':'api','metadata':{'who':'ada'}},'session_id':'p'");

    assertThat(read.feedback()).isEqualTo("f1");
    assertThat(read.response()).isEqualTo("resp_1");
    assertThat(read.name()).isEqualTo("correct");
    assertThat(read.dataType()).isEqualTo("boolean");
    assertThat(read.number()).isEqualTo(1.0);
    assertThat(read.correction()).isEqualTo("{\"answer\":\"42\"}");
    assertThat(read.source()).isEqualTo("api");
    assertThat(read.metadata()).containsEntry("who", "ada");
  }

  @Test
  void a_value_of_langsmith_stands_where_there_is_no_score() {
    assertThat(langSmith("'run_id':'r','key':'k','value':'warm'").text()).isEqualTo("warm");
    assertThat(langSmith("'run_id':'r','key':'k','value':{'a':1}").text()).isEqualTo("{\"a\":1}");
    assertThat(langSmith("'trace_id':'t','key':'k','score':0.5").response()).isEqualTo("t");
  }

  private static GivenFeedback langfuse(String fields) {
    return FeedbackReader.read(FeedbackShapes.ofLangfuse(json(fields)), "fresh");
  }

  private static GivenFeedback langSmith(String fields) {
    return FeedbackReader.read(FeedbackShapes.ofLangSmith(json(fields)), "fresh");
  }

  private static ObjectNode json(String fields) {
    return Json.own("{" + fields.replace('\'', '"') + "}");
  }
}
