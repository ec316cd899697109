package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.Time;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/** Real tables in a real catalog and a real bucket, read back. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeReaderTest {
  private Path folder;
  private EmbeddedLake lake;
  private LakeCatalog catalog;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    this.folder = folder;
    lake = new EmbeddedLake(folder.resolve("services"));
    LakeConfig config = lake.config("read");
    try (S3Client client = LakeS3.client(config.s3())) {
      LakeS3.prepare(client, config.s3());
    }
    catalog = LakeCatalog.open(config);
    SqlRows rows = new SqlRows(catalog, folder);
    rows.append(
        LakeKind.RESPONSE,
        "2026-11-28",
        List.of(
            response("1", "2026-11-28 23:59:59.999", 10, 1),
            response("2", "2026-11-28 12:00:00", 20, 2)));
    rows.append(
        LakeKind.RESPONSE,
        "2026-11-29",
        List.of(
            response("3", "2026-11-29 00:00:00", 30, 3) + ", 'full' as text_policy",
            response("4", "2026-11-29 08:00:00", 40, 4)
                + ", [{'index': 0, 'stop': 'x'}] as generations"));
    // A repeat of one that is there.
    rows.append(
        LakeKind.RESPONSE, "2026-11-29", List.of(response("3", "2026-11-29 00:00:00", 30, 3)));
    rows.append(
        LakeKind.FEEDBACK,
        "2026-11-29",
        List.of(
            "'f1' as event_id, '2026-11-29 09:00:00' as time, 'a' as tenant,"
                + " 'r4' as response_id, 'helpful' as name, 'boolean' as data_type, 1.0 as number,"
                + " map{'k': 'v'} as metadata, {'start': 1, 'end': 2} as token_range"));
  }

  private static String response(String id, String time, int prompt, int output) {
    return """
    'e%1$s' as event_id, '%2$s' as time, 'a' as tenant, 'r%1$s' as response_id,
    %3$d::bigint as prompt_tokens, %4$d::bigint as output_tokens, 'completed' as status\
    """
        .formatted(id, time, prompt, output);
  }

  @AfterAll
  void stop() throws Exception {
    catalog.close();
    lake.close();
  }

  private LakeReader open(LakeCatalog catalog, TimeRange range, LakeKind... kinds)
      throws Exception {
    Map<LakeKind, TimeRange> wanted = new EnumMap<>(LakeKind.class);
    for (LakeKind kind : kinds) {
      wanted.put(kind, range);
    }
    return LakeReader.open(
        catalog,
        folder.resolve("cache"),
        wanted,
        Optional.empty(),
        Time.system(),
        FetchProgress.NONE);
  }

  private String ask(TimeRange range, String sql) throws Exception {
    try (LakeReader reader = open(catalog, range, LakeKind.values())) {
      return ask(reader, sql);
    }
  }

  private static String ask(LakeReader reader, String sql) throws Exception {
    StringWriter out = new StringWriter();
    new LakeQuery(sql).write(reader, RowFormat.JSONL, out);
    return out.toString().strip();
  }

  @Test
  void every_event_is_one_row_with_its_tokens_whatever_was_repeated() throws Exception {
    assertThat(
            ask(
                TimeRange.ALL,
                "select count(*) as n, sum(prompt_tokens)::int as p, sum(output_tokens)::int as o"
                    + " from responses"))
        .isEqualTo("{\"n\":4,\"p\":100,\"o\":10}");
  }

  @Test
  void a_column_that_a_file_has_not_got_is_null() throws Exception {
    assertThat(
            ask(
                TimeRange.ALL,
                "select response_id as r, text_policy as t, generations[1] as g from responses"
                    + " where time >= '2026-11-29' and response_id = 'r4'"))
        .startsWith("{\"r\":\"r4\",\"t\":null,\"g\":{\"index\":0,\"replica\":null,")
        .contains("\"stop\":\"x\"", "\"token_ids\":null");
  }

  @Test
  void nested_columns_keep_their_types() throws Exception {
    assertThat(
            ask(
                TimeRange.ALL,
                "select number, metadata, token_range, time from feedback where metadata['k'] ="
                    + " 'v'"))
        .isEqualTo(
            "{\"number\":1.0,\"metadata\":{\"k\":\"v\"},\"token_range\":{\"start\":1,\"end\":2},"
                + "\"time\":\"2026-11-29T09:00:00Z\"}");
  }

  @Test
  void a_table_without_files_and_one_that_was_not_asked_for_are_empty_and_have_their_columns()
      throws Exception {
    assertThat(ask(TimeRange.ALL, "select count(code) as n from refusals")).isEqualTo("{\"n\":0}");
    try (LakeReader reader = open(catalog, TimeRange.ALL, LakeKind.FEEDBACK)) {
      assertThat(ask(reader, "select count(response_id) as n from responses"))
          .isEqualTo("{\"n\":0}");
    }
  }

  @Test
  void a_range_of_time_is_exact_and_only_its_files_are_copied() throws Exception {
    TimeRange range =
        new TimeRange(
            Optional.of(Instant.parse("2026-11-28T23:00:00Z")),
            Optional.of(Instant.parse("2026-11-29T00:00:00Z")));
    Path cache = folder.resolve("cache-range");
    try (LakeReader reader =
        LakeReader.open(
            catalog,
            cache,
            Map.of(LakeKind.RESPONSE, range),
            Optional.empty(),
            Time.system(),
            FetchProgress.NONE)) {
      assertThat(ask(reader, "select response_id from responses"))
          .isEqualTo("{\"response_id\":\"r1\"}");
    }
    try (Stream<Path> copies = Files.list(cache.resolve("files"))) {
      assertThat(copies).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select * from read_text('/etc/hostname')",
        "copy (select 1) to '/tmp/firstlight-lake-reader-test'",
        "attach '/tmp/firstlight-lake-reader-test'",
        "install httpfs",
        "load httpfs",
      })
  void a_question_reaches_nothing_outside_the_lake(String sql) throws Exception {
    try (LakeReader reader = open(catalog, TimeRange.ALL)) {
      assertThatThrownBy(() -> ask(reader, sql))
          .isInstanceOf(LakeFailure.class)
          .hasMessageStartingWith("Permission Error");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "selct 1|Parser Error: syntax error at or near \"selct\"",
        "select nope from responses|Binder Error: Referenced column \"nope\" not found",
        "set threads = 3|Invalid Input Error: Cannot change configuration option \"threads\"",
        "select * from nothing|Catalog Error: Table with name nothing does not exist!",
      })
  void what_is_wrong_is_said_in_one_line(String sql, String message) throws Exception {
    try (LakeReader reader = open(catalog, TimeRange.ALL)) {
      assertThatThrownBy(() -> ask(reader, sql))
          .isInstanceOf(LakeFailure.class)
          .hasMessageStartingWith(message)
          .message()
          .doesNotContain("\n", "LINE 1");
    }
  }

  @Test
  void a_parquet_file_can_be_written_and_read_back() throws Exception {
    Path file = folder.resolve("out.parquet");
    try (LakeReader reader =
        LakeReader.open(
            catalog,
            folder.resolve("cache"),
            Map.of(LakeKind.RESPONSE, TimeRange.ALL),
            Optional.of(file),
            Time.system(),
            FetchProgress.NONE)) {
      long rows = new LakeQuery("select * from responses;  ").writeParquet(reader, file);
      assertThat(rows).isEqualTo(4);
      assertThat(ask(reader, "select count(*) as n from read_parquet('%s')".formatted(file)))
          .isEqualTo("{\"n\":4}");
    }
  }

  @Test
  void the_query_in_the_documentation_joins_a_response_with_its_feedback_and_tokens()
      throws Exception {
    String page = Files.readString(Path.of("../docs/lake.md"));
    int begin = page.indexOf("```sql") + 6;
    // These rows are of a fixed day.
    String query =
        page.substring(begin, page.indexOf("```", begin))
            .replace("now() - interval 1 day", "timestamptz '2026-11-29 08:00:00'");
    assertThat(ask(TimeRange.ALL, query))
        .startsWith("{\"time\":\"2026-11-29T08:00:00Z\",\"response_id\":\"r4\"")
        .contains("\"output_tokens\":4,\"name\":\"helpful\",\"number\":1.0")
        .contains("\"token_ids\":null");
  }

  @Test
  void no_lake_is_said_so() throws Exception {
    try (LakeCatalog empty = LakeCatalog.open(lake.config("nothing"))) {
      assertThatThrownBy(() -> open(empty, TimeRange.ALL, LakeKind.RESPONSE))
          .isInstanceOf(LakeFailure.class)
          .hasMessageStartingWith("there is no lake yet");
    }
  }

  @Test
  void the_status_says_what_a_table_holds() {
    LakeStatus responses = LakeStatus.of(catalog).getFirst();
    assertThat(responses.kind()).isEqualTo(LakeKind.RESPONSE);
    assertThat(responses.rows()).isEqualTo(5);
    assertThat(responses.files()).isEqualTo(3);
    assertThat(responses.smallFiles()).isEqualTo(3);
    assertThat(responses.bytes()).isPositive();
    assertThat(responses.newest()).contains(Instant.parse("2026-11-29T08:00:00Z"));
    assertThat(responses.snapshot()).isPresent();
    assertThat(responses.offsets().last("topic", 0)).isEqualTo(new LakeOffsets.Batch(4, 5));
  }
}
