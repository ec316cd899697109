package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.lake.TrainingExport.Format;
import firstlight.lake.TrainingExport.Report;
import firstlight.lake.TrainingExport.Request;
import firstlight.protocol.Time;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;

/** Who is exported, who is not, and as what. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TrainingExportTest {
  private static final String DAY = "2026-11-29";

  private final ObjectMapper json = new ObjectMapper();
  private final List<String> responses = new ArrayList<>();
  private final List<String> feedback = new ArrayList<>();
  private final List<String> calls = new ArrayList<>();
  private Path folder;
  private EmbeddedLake lake;
  private LakeCatalog catalog;

  private record Export(List<JsonNode> lines, Report report) {
    private List<String> ids() {
      return lines.stream().map(line -> line.at("/metadata/response_id").asText()).toList();
    }

    private JsonNode line(String id) {
      return lines.get(ids().indexOf(id));
    }
  }

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    this.folder = folder;
    lake = new EmbeddedLake(folder.resolve("services"));
    LakeConfig config = lake.config("export");
    try (S3Client client = LakeS3.client(config.s3())) {
      LakeS3.prepare(client, config.s3());
    }
    catalog = LakeCatalog.open(config);
    responses();
    judgements();
    calls();
    SqlRows rows = new SqlRows(catalog, folder);
    rows.append(LakeKind.RESPONSE, DAY, responses);
    rows.append(LakeKind.FEEDBACK, DAY, feedback);
    rows.append(LakeKind.TOOL_CALL, DAY, calls);
  }

  private void responses() {
    response("good", "q1", "right", Map.of());
    response("bad", "q1", "wrong", Map.of("dialect", "'messages'"));
    response("lonely", "q2", "wrong, too", Map.of());
    response("corrected", "q3", "nearly", Map.of());
    response("both", "q4", "so so", Map.of());
    response("unjudged", "q5", "who knows", Map.of());
    response("cut", "q6", "cut", Map.of("shortened", "'text'"));
    response("many", "q7", "a b", Map.of("finish_reasons", "['STOP', 'STOP']"));
    response("failed", "q8", "half", Map.of("status", "'failed'"));
    response("conversing", "q9", "yes", Map.of("conversation_id", "'conv_1'"));
    response("follow", "q10", "indeed", Map.of("previous_response_id", "'good'"));
    response("orphan", "q11", "lost", Map.of("previous_response_id", "'nowhere'"));
    response("rated", "q12", "four", Map.of());
    response("calling", "q13", "<tool_call>f</tool_call>\n<tool_call>g</tool_call>", Map.of());
    response("called", "q14", "done", Map.of("previous_response_id", "'calling'"));
    response("strange", "q15", "[TOOL_CALLS]f[ARGS]{}", Map.of());
    // Two good ones and three bad ones of the same question, not in their order.
    response("bad3", "same", "b3", Map.of("time", "'%s 20:05:00'".formatted(DAY)));
    response("good2", "same", "g2", Map.of("time", "'%s 20:02:00'".formatted(DAY)));
    response("good1", "same", "g1", Map.of("time", "'%s 20:01:00'".formatted(DAY)));
    response("bad1", "same", "b1", Map.of("time", "'%s 20:03:00'".formatted(DAY)));
    response("bad2", "same", "b2", Map.of("time", "'%s 20:04:00'".formatted(DAY)));
    responses.add(common("silent", 30) + ", 'silent' as response_id, 'hashed' as text_policy");
  }

  private void response(String id, String asked, String answered, Map<String, String> more) {
    Map<String, String> columns = new TreeMap<>();
    columns.put("time", "'%s 08:%02d:00'".formatted(DAY, responses.size()));
    columns.put("event_id", "'e-%s'".formatted(id));
    columns.put("response_id", "'%s'".formatted(id));
    columns.put("output", "'%s'".formatted(answered));
    columns.put(
        "input_messages",
        "[{'role': 'user', 'text': '%s', 'calls': [], 'call_id': null, 'name': null}]"
            .formatted(asked));
    columns.putAll(
        Map.of(
            "tenant", "'a'",
            "dialect", "'chat.completions'",
            "model", "'m'",
            "model_digest", "'d'",
            "status", "'completed'",
            "finish_reasons", "['STOP']"));
    columns.putAll(more);
    responses.add(
        columns.entrySet().stream()
            .map(column -> column.getValue() + " as " + column.getKey())
            .collect(Collectors.joining(", ")));
  }

  private void calls() {
    for (String call : List.of("g", "f")) {
      int index = call.equals("f") ? 0 : 1;
      calls.add(
          common("call-" + call, 13)
              + """
              , 'calling' as response_id, 0::bigint as generation, %d::bigint as "index",
              'call_%2$s' as call_id, '%2$s' as name, '{}' as arguments, true as arguments_valid\
              """
                  .formatted(index, call));
    }
    calls.add(
        common("call-s", 15)
            + """
            , 'strange' as response_id, 0::bigint as generation, 0::bigint as "index",
            'call_s' as call_id, 'f' as name, '{}' as arguments, true as arguments_valid\
            """);
  }

  private static String common(String id, int minute) {
    return "'e-%s' as event_id, '%s 08:%02d:00' as time, 'a' as tenant".formatted(id, DAY, minute);
  }

  private void judgements() {
    for (String id : List.of("good", "both", "cut", "many", "failed", "conversing")) {
      judge(id, "true", 1);
    }
    for (String id : List.of("follow", "orphan", "silent", "calling", "called", "strange")) {
      judge(id, "true", 1);
    }
    for (String id : List.of("good1", "good2")) {
      judge(id, "true", 1);
    }
    for (String id : List.of("bad", "lonely", "both", "bad3", "bad2", "bad1")) {
      judge(id, "false", 0);
    }
    feedback.add(
        common("rated-f", 50)
            + ", 'rated' as response_id, 'numeric' as data_type, 4.0 as number, 'stars' as name");
    feedback.add(
        common("corrected-2", 52) + ", 'corrected' as response_id, 'exactly' as correction");
    feedback.add(common("corrected-1", 51) + ", 'corrected' as response_id, 'older' as correction");
    // Somebody else's judgement of the same id says nothing about this tenant's Response.
    feedback.add(
        "'e-x' as event_id, '%s 09:00:00' as time, 'b' as tenant, 'unjudged' as response_id, "
                .formatted(DAY)
            + "'boolean' as data_type, 1.0 as number");
  }

  private void judge(String id, String word, int number) {
    feedback.add(
        common(id + "-" + word, 40)
            + ", '%s' as response_id, 'boolean' as data_type, %d.0 as number, 'helpful' as name"
                .formatted(id, number));
  }

  @AfterAll
  void stop() throws Exception {
    catalog.close();
    lake.close();
  }

  private Export export(Format format, OptionalDouble minScore, boolean all) throws Exception {
    return export(
        new Request(format, TimeRange.ALL, Optional.empty(), minScore, Optional.empty(), all));
  }

  private Export export(Request request) throws Exception {
    StringWriter out = new StringWriter();
    try (LakeReader reader =
        LakeReader.open(
            catalog,
            folder.resolve("cache"),
            request.tables(),
            Optional.empty(),
            Time.system(),
            FetchProgress.NONE)) {
      Report report = TrainingExport.write(reader, request, out);
      List<JsonNode> lines = new ArrayList<>();
      for (String line : out.toString().lines().toList()) {
        lines.add(json.readTree(line));
      }
      return new Export(lines, report);
    }
  }

  @Test
  void what_was_judged_well_or_corrected_becomes_messages() throws Exception {
    Export export = export(Format.SFT, OptionalDouble.empty(), false);

    assertThat(export.ids())
        .containsExactlyInAnyOrder(
            "good", "corrected", "follow", "rated", "calling", "called", "good1", "good2");
    assertThat(export.line("good").get("messages"))
        .hasToString(
            "[{\"role\":\"user\",\"content\":\"q1\"},"
                + "{\"role\":\"assistant\",\"content\":\"right\"}]");
    assertThat(export.line("good").get("metadata"))
        .hasToString(
            "{\"response_id\":\"good\",\"tenant\":\"a\",\"time\":\"2026-11-29T08:00:00Z\","
                + "\"model\":\"m\",\"model_digest\":\"d\",\"dialect\":\"chat.completions\","
                + "\"judgement\":\"good\",\"score\":1.0,\"redactions\":0}");
    assertThat(export.line("corrected").at("/messages/1/content").asText()).isEqualTo("exactly");
    assertThat(export.report().written()).isEqualTo(8);
    assertThat(export.report().leftOut())
        .isEqualTo(
            Map.of(
                "judged bad", 5L,
                "judged both", 1L,
                "judged none", 1L,
                "text cut", 1L,
                "several answers", 1L,
                "not completed", 1L,
                "in a conversation", 1L,
                "no text", 1L,
                "history not there", 1L,
                "calls not told apart", 1L));
  }

  @Test
  void what_a_response_builds_on_comes_first() throws Exception {
    JsonNode messages =
        export(Format.SFT, OptionalDouble.empty(), false).line("follow").get("messages");
    assertThat(messages)
        .extracting(message -> message.get("content").asText())
        .containsExactly("q1", "right", "q10", "indeed");
  }

  @Test
  void calls_of_tools_are_told_in_their_order() throws Exception {
    Export export = export(Format.SFT, OptionalDouble.empty(), false);
    String call =
        "{\"id\":\"call_%1$s\",\"type\":\"function\","
            + "\"function\":{\"name\":\"%1$s\",\"arguments\":\"{}\"}}";
    String calling =
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[%s,%s]}"
            .formatted(call.formatted("f"), call.formatted("g"));
    assertThat(export.line("calling").at("/messages/1")).hasToString(calling);
    assertThat(export.line("called").at("/messages/1")).hasToString(calling);
    assertThat(export.line("called").at("/messages/3/content").asText()).isEqualTo("done");
  }

  @Test
  void only_responses_of_the_range_are_taken_and_feedback_from_then_on() throws Exception {
    TimeRange range =
        new TimeRange(
            Optional.of(Instant.parse(DAY + "T08:03:00Z")),
            Optional.of(Instant.parse(DAY + "T08:13:00Z")));
    Export export =
        export(
            new Request(
                Format.SFT,
                range,
                Optional.empty(),
                OptionalDouble.empty(),
                Optional.empty(),
                false));
    assertThat(export.ids()).containsExactlyInAnyOrder("corrected", "rated");
    assertThat(export.report().leftOut()).containsEntry("history not there", 2L);
  }

  @Test
  void a_least_score_is_for_numbers_only() throws Exception {
    Export export = export(Format.SFT, OptionalDouble.of(4.5), false);
    assertThat(export.ids())
        .containsExactlyInAnyOrder(
            "good", "corrected", "follow", "calling", "called", "good1", "good2");
    assertThat(export.report().leftOut()).containsEntry("judged bad", 6L);
  }

  @Test
  void all_takes_those_that_nobody_judged_too() throws Exception {
    List<String> some = export(Format.SFT, OptionalDouble.empty(), false).ids();
    List<String> all = export(Format.SFT, OptionalDouble.empty(), true).ids();
    assertThat(all).containsAll(some).doesNotHaveDuplicates();
    assertThat(all.stream().filter(id -> !some.contains(id)))
        .containsExactlyInAnyOrder("bad", "bad1", "bad2", "bad3", "lonely", "both", "unjudged");
  }

  @Test
  void a_preference_is_a_correction_or_an_opposite_judgement_of_the_same_question()
      throws Exception {
    Export export = export(Format.PREFERENCE, OptionalDouble.empty(), false);

    assertThat(export.ids()).containsExactlyInAnyOrder("good", "corrected", "good1", "good2");
    JsonNode pair = export.line("good");
    assertThat(pair.get("prompt")).hasToString("[{\"role\":\"user\",\"content\":\"q1\"}]");
    assertThat(pair.at("/chosen/0/content").asText()).isEqualTo("right");
    assertThat(pair.at("/rejected/0/content").asText()).isEqualTo("wrong");
    assertThat(pair.at("/metadata/rejected_response_id").asText()).isEqualTo("bad");
    JsonNode correction = export.line("corrected");
    assertThat(correction.at("/chosen/0/content").asText()).isEqualTo("exactly");
    assertThat(correction.at("/rejected/0/content").asText()).isEqualTo("nearly");
    assertThat(export.report().leftOut()).containsEntry("no counterpart", 8L);
  }

  @Test
  void of_several_judged_the_first_go_together_and_none_is_used_twice() throws Exception {
    Export export = export(Format.PREFERENCE, OptionalDouble.empty(), false);
    assertThat(export.line("good1").at("/metadata/rejected_response_id").asText())
        .isEqualTo("bad1");
    assertThat(export.line("good2").at("/metadata/rejected_response_id").asText())
        .isEqualTo("bad2");
  }

  @Test
  void a_preference_of_everything_makes_no_sense() {
    assertThatThrownBy(() -> export(Format.PREFERENCE, OptionalDouble.empty(), true))
        .isInstanceOf(LakeFailure.class);
  }
}
