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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
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
    SqlRows rows = new SqlRows(catalog, folder);
    rows.append(LakeKind.RESPONSE, DAY, responses);
    rows.append(LakeKind.FEEDBACK, DAY, feedback);
  }

  private void responses() {
    response("good", "q1", "right", "");
    response("bad", "q1", "wrong", "");
    response("lonely", "q2", "wrong, too", "");
    response("corrected", "q3", "nearly", "");
    response("both", "q4", "so so", "");
    response("unjudged", "q5", "who knows", "");
    response("cut", "q6", "cut", ", 'text' as shortened");
    response("many", "q7", "a b", ", ['STOP', 'STOP'] as finish_reasons");
    response("failed", "q8", "half", ", 'failed' as status");
    response("conversing", "q9", "yes", ", 'conv_1' as conversation_id");
    response("follow", "q10", "indeed", ", 'good' as previous_response_id");
    response("orphan", "q11", "lost", ", 'nowhere' as previous_response_id");
    response("rated", "q12", "four", "");
    responses.add(common("silent", 30) + ", 'silent' as response_id, 'hashed' as text_policy");
    responses.add(
        common("image", 31)
            + ", 'image' as response_id, 'o' as output, 'chat.completions' as dialect,"
            + " '[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]' as input");
  }

  private void response(String id, String asked, String answered, String more) {
    responses.add(
        common(id, responses.size())
            + """
            , '%s' as response_id, 'chat.completions' as dialect, 'm' as model, 'd' as model_digest,
            '[{"role":"user","content":"%s"}]' as input, '%s' as output\
            """
                .formatted(id, asked, answered)
            + (more.contains("status") ? "" : ", 'completed' as status")
            + (more.contains("finish_reasons") ? "" : ", ['STOP'] as finish_reasons")
            + more);
  }

  private static String common(String id, int minute) {
    return "'e-%s' as event_id, '%s 08:%02d:00' as time, 'a' as tenant".formatted(id, DAY, minute);
  }

  private void judgements() {
    for (String id : List.of("good", "both", "cut", "many", "failed", "conversing")) {
      judge(id, "true", 1);
    }
    for (String id : List.of("follow", "orphan", "silent", "image")) {
      judge(id, "true", 1);
    }
    for (String id : List.of("bad", "lonely", "both")) {
      judge(id, "false", 0);
    }
    feedback.add(
        common("rated-f", 50)
            + ", 'rated' as response_id, 'numeric' as data_type, 4.0 as number, 'stars' as name");
    feedback.add(common("corrected-1", 51) + ", 'corrected' as response_id, 'older' as correction");
    feedback.add(
        common("corrected-2", 52) + ", 'corrected' as response_id, 'exactly' as correction");
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
    Request request =
        new Request(format, TimeRange.ALL, Optional.empty(), minScore, Optional.empty(), all);
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

    assertThat(export.ids()).containsExactlyInAnyOrder("good", "corrected", "follow", "rated");
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
    assertThat(export.report().written()).isEqualTo(4);
    assertThat(export.report().leftOut())
        .isEqualTo(
            Map.of(
                "judged bad", 2L,
                "judged both", 1L,
                "judged none", 1L,
                "text cut", 1L,
                "several answers", 1L,
                "not completed", 1L,
                "in a conversation", 1L,
                "no text", 1L,
                "history not there", 1L,
                "not told as messages", 1L));
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
  void a_least_score_is_for_numbers_only() throws Exception {
    Export export = export(Format.SFT, OptionalDouble.of(4.5), false);
    assertThat(export.ids()).containsExactlyInAnyOrder("good", "corrected", "follow");
    assertThat(export.report().leftOut()).containsEntry("judged bad", 3L);
  }

  @Test
  void all_takes_those_that_nobody_judged_too() throws Exception {
    assertThat(export(Format.SFT, OptionalDouble.empty(), true).ids())
        .containsExactlyInAnyOrder(
            "good", "bad", "lonely", "corrected", "both", "unjudged", "follow", "rated");
  }

  @Test
  void a_preference_is_a_correction_or_an_opposite_judgement_of_the_same_question()
      throws Exception {
    Export export = export(Format.PREFERENCE, OptionalDouble.empty(), false);

    assertThat(export.ids()).containsExactlyInAnyOrder("good", "corrected");
    JsonNode pair = export.line("good");
    assertThat(pair.get("prompt")).hasToString("[{\"role\":\"user\",\"content\":\"q1\"}]");
    assertThat(pair.at("/chosen/0/content").asText()).isEqualTo("right");
    assertThat(pair.at("/rejected/0/content").asText()).isEqualTo("wrong");
    assertThat(pair.at("/metadata/rejected_response_id").asText()).isEqualTo("bad");
    JsonNode correction = export.line("corrected");
    assertThat(correction.at("/chosen/0/content").asText()).isEqualTo("exactly");
    assertThat(correction.at("/rejected/0/content").asText()).isEqualTo("nearly");
    assertThat(export.report().leftOut()).containsEntry("no counterpart", 5L);
  }

  @Test
  void a_preference_of_everything_makes_no_sense() {
    assertThatThrownBy(() -> export(Format.PREFERENCE, OptionalDouble.empty(), true))
        .isInstanceOf(LakeFailure.class);
  }
}
