package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;

/** With a real PostgreSQL and a real S3 server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeCatalogTest {
  private EmbeddedLake lake;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    lake = new EmbeddedLake(folder);
    try (S3Client client = LakeS3.client(lake.config("any").s3())) {
      LakeS3.prepare(client, lake.config("any").s3());
    }
  }

  @AfterAll
  void stop() throws Exception {
    lake.close();
  }

  @Test
  void tables_that_one_catalog_makes_another_finds() {
    LakeConfig config = lake.config("found");
    try (LakeCatalog first = LakeCatalog.open(config);
        LakeCatalog second = LakeCatalog.open(config)) {
      for (LakeKind kind : LakeKind.values()) {
        assertThat(second.find(kind)).isEmpty();
        Table made = first.table(kind);

        Table found = second.find(kind).orElseThrow();

        assertThat(found.uuid()).isEqualTo(made.uuid());
        assertThat(found.schema().sameSchema(second.table(kind).schema())).isTrue();
        assertThat(found.spec().fields())
            .singleElement()
            .hasToString(
                "1000: time_day: day(%d)".formatted(made.schema().findField("time").fieldId()));
        assertThat(found.location()).isEqualTo("s3://lake/found/found/" + kind.table());
      }
    }
  }

  @Test
  void a_table_gets_the_columns_that_are_missing_and_keeps_those_nobody_knows() {
    LakeConfig config = lake.config("grown");
    try (LakeCatalog first = LakeCatalog.open(config)) {
      first
          .table(LakeKind.FEEDBACK)
          .updateSchema()
          .deleteColumn("redactions")
          .addColumn("from_the_future", Types.StringType.get())
          .commit();
    }
    try (LakeCatalog second = LakeCatalog.open(config)) {
      Schema schema = second.table(LakeKind.FEEDBACK).schema();

      assertThat(schema.findField("redactions").isOptional()).isTrue();
      assertThat(schema.findField("from_the_future")).isNotNull();
      assertThat(second.find(LakeKind.FEEDBACK).orElseThrow().schema().sameSchema(schema)).isTrue();
    }
  }

  @Test
  void many_that_start_at_once_make_everything_once() throws Exception {
    lake.sql("drop table if exists iceberg_tables, iceberg_namespace_properties");
    LakeConfig config = lake.config("crowd");
    CyclicBarrier together = new CyclicBarrier(4);
    Callable<UUID> starter =
        () -> {
          together.await();
          try (LakeCatalog catalog = LakeCatalog.open(config)) {
            return catalog.table(LakeKind.ERROR).uuid();
          }
        };
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<UUID>> made = threads.invokeAll(Collections.nCopies(4, starter));
      for (Future<UUID> each : made) {
        assertThat(each.get()).isEqualTo(made.getFirst().get());
      }
    }
  }

  @Test
  void every_field_of_the_wire_is_a_typed_column() {
    assertThat(LakeSchema.of(LakeKind.FEEDBACK).toString())
        .contains("event_id: required string")
        .contains("time: optional timestamptz")
        .contains("number: optional double")
        .contains("metadata: required map<string, string>")
        .contains("token_range: optional struct<");
    assertThat(LakeSchema.of(LakeKind.RESPONSE).toString())
        .contains("prompt_tokens: required long")
        .contains("streamed: required boolean")
        .contains("token_ids: required list<long>");
  }
}
