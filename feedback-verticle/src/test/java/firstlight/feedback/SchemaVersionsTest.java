package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeCommits;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeFile.Bounds;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeOffsets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of three versions in one table: of one that did not know some columns yet, of this one, and
 * of one to come. All are read together, by the names of the columns and by their ids.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SchemaVersionsTest {
  private static final String LAKE = "versions";
  private static final LakeFolder FOLDER =
      new LakeFolder(LakeKind.FEEDBACK, LocalDate.of(2026, 11, 29));

  private LakeTrial trial;
  @TempDir private Path folder;

  @BeforeAll
  void start(@TempDir Path services) throws Exception {
    trial = new LakeTrial(services);
    new S3LakeStore(trial.lake.config(LAKE).s3()).prepare();
  }

  @AfterAll
  void stop() throws Exception {
    trial.close();
  }

  @Test
  void files_of_three_versions_are_read_together() throws Exception {
    older();
    today();
    toCome();

    String byName = trial.rowsOf(LAKE);
    assertThat(
            trial.query(
                "select count(*), count(distinct event_id), count(correction), round(sum(number),"
                    + " 6), count(mood), count(redactions), sum(token_range.\"end\")::bigint from "
                    + byName))
        .containsExactly(List.of(6L, 6L, 3L, 2.1, 2L, 4L, 26L));
    String byId = rowsById();
    assertThat(
            trial.query(
                "select count(*), count(distinct event_id), count(fix), round(sum(number), 6),"
                    + " count(mood), count(redactions) from "
                    + byId))
        .as("a column that has another name since is found by its id")
        .containsExactly(List.of(6L, 6L, 3L, 2.1, 2L, 4L));
    try (LakeCatalog today = LakeCatalog.open(trial.lake.config(LAKE))) {
      assertThat(today.find(LakeKind.FEEDBACK).orElseThrow().currentSnapshot().summary())
          .containsEntry("total-records", "6")
          .containsEntry("total-data-files", "3");
    }
  }

  /** Before there were redactions and token ranges. */
  private void older() throws IOException {
    try (LakeCatalog catalog = LakeCatalog.open(trial.lake.config(LAKE))) {
      Table table = catalog.table(LakeKind.FEEDBACK);
      table.updateSchema().deleteColumn("redactions").deleteColumn("token_range").commit();
      append(catalog, table, write("older.parquet", table, 1), 1);
    }
  }

  private void today() throws IOException {
    try (LakeCatalog catalog = LakeCatalog.open(trial.lake.config(LAKE))) {
      Table table = catalog.table(LakeKind.FEEDBACK);
      append(catalog, table, write("today.parquet", table, 3), 3);
    }
  }

  /** Written by another writer: DuckDB, with a column more. */
  private void toCome() throws IOException {
    try (LakeCatalog catalog = LakeCatalog.open(trial.lake.config(LAKE))) {
      Table table = catalog.table(LakeKind.FEEDBACK);
      table.updateSchema().addColumn("mood", Types.StringType.get()).commit();
      Path plain = write("plain.parquet", table, 5);
      Path file = folder.resolve("tocome.parquet");
      String ids =
          table.schema().columns().stream()
              .filter(each -> each.type().isPrimitiveType())
              .map(each -> "%s: %d".formatted(each.name(), each.fieldId()))
              .collect(Collectors.joining(", "));
      trial.execute(
          "copy (select * replace ('sunny' as mood) from read_parquet('%s')) to '%s'"
              .concat(" (field_ids {%s})")
              .formatted(plain, file, ids));
      append(catalog, table, file, 5);
      table.updateSchema().renameColumn("correction", "fix").commit();
    }
  }

  /** Two feedbacks, the first with a correction in it, the second in all versions with one. */
  private Path write(String name, Table table, int number) throws IOException {
    Path path = folder.resolve(name);
    ParquetFileWriter writer = new ParquetFileWriter(FOLDER, path, table.schema(), 1 << 20);
    for (int i = number; i < number + 2; i++) {
      var event = TestEvents.feedback(i).toBuilder();
      event.getFeedbackBuilder().setCorrection(i % 2 == 0 ? "better" : "");
      writer.write(new LakeRow(event.build(), 0, i));
    }
    writer.finish();
    return path;
  }

  private void append(LakeCatalog catalog, Table table, Path path, int number) throws IOException {
    S3LakeStore store = new S3LakeStore(catalog.config().s3());
    store.create(path.getFileName().toString(), path);
    LakeFile file =
        new LakeFile(
            store.uri(path.getFileName().toString()),
            2,
            Files.size(path),
            FOLDER.day(),
            new Bounds((TestEvents.NOON + number) * 1000, (TestEvents.NOON + number + 1) * 1000),
            new Bounds(0, 0),
            new Bounds(number, number + 1));
    new LakeCommits(catalog)
        .append(
            LakeKind.FEEDBACK, "id", 0, new LakeOffsets.Batch(number, number + 2), List.of(file));
    table.refresh();
    store.close();
  }

  private String rowsById() {
    try (LakeCatalog catalog = LakeCatalog.open(trial.lake.config(LAKE))) {
      Table table = catalog.find(LakeKind.FEEDBACK).orElseThrow();
      String columns =
          List.of("event_id", "fix", "number", "mood", "redactions").stream()
              .map(name -> column(table, name))
              .collect(Collectors.joining(", "));
      List<String> files =
          trial.tables(LAKE).stream()
              .map(file -> "'" + trial.object(LAKE, file.location()) + "'")
              .toList();
      return "read_parquet(%s, schema = map {%s})".formatted(files, columns);
    }
  }

  private static String column(Table table, String name) {
    Types.NestedField field = table.schema().findField(name);
    String type =
        switch (field.type().typeId()) {
          case STRING -> "varchar";
          case DOUBLE -> "double";
          default -> "bigint";
        };
    return "%d: {name: '%s', type: '%s', default_value: null}"
        .formatted(field.fieldId(), name, type);
  }
}
