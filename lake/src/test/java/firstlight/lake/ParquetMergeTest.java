package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ParquetMergeTest {
  private final UpkeepConfig.Compaction limits = UpkeepConfig.read(Settings.empty()).compaction();

  @TempDir Path folder;

  @Test
  void nested_columns_survive_bit_for_bit() throws Exception {
    for (LakeKind kind : List.of(LakeKind.RESPONSE, LakeKind.FEEDBACK)) {
      Schema schema = LakeSchema.of(kind);
      LakeRows rows =
          kind == LakeKind.RESPONSE ? LakeRows.responses(schema) : LakeRows.feedback(schema);
      List<Path> inputs = files(rows, 0, 300, 60, 1);

      ParquetMerge.Merged merged = merge(schema, inputs);

      assertThat(merged.rows()).isEqualTo(300);
      assertThat(FilledLake.difference(read(inputs), read(output()))).isZero();
      assertThat(FilledLake.difference(read(output()), read(inputs))).isZero();
    }
  }

  @Test
  void other_engines_find_the_columns_by_the_ids_of_the_table() throws Exception {
    Schema schema = LakeSchema.of(LakeKind.FEEDBACK);
    merge(schema, files(LakeRows.feedback(schema), 0, 20, 10, 0));

    String columns =
        FilledLake.sql(
            """
            SELECT string_agg(name || ':' || field_id, ' ') FROM parquet_schema('%s')
            WHERE field_id IS NOT NULL
            """,
            output().getFirst());

    List<String> expected = new ArrayList<>();
    for (Types.NestedField column : schema.columns()) {
      addNames(column, expected);
    }
    assertThat(columns.split(" ")).containsExactlyElementsOf(expected);
    assertThat(
            FilledLake.sql(
                "SELECT logical_type FROM parquet_schema('%s') WHERE name = 'time'",
                output().getFirst()))
        .contains("isAdjustedToUTC=1")
        .contains("MICROS=MicroSeconds()");
  }

  private static void addNames(Types.NestedField field, List<String> names) {
    names.add(field.name() + ":" + field.fieldId());
    if (field.type().isNestedType()) {
      field.type().asNestedType().fields().forEach(part -> addNames(part, names));
    }
  }

  @Test
  void of_rows_with_the_same_event_id_the_oldest_stays() throws Exception {
    Schema schema = LakeSchema.of(LakeKind.ERROR);
    LakeRows rows = new LakeRows(schema);
    List<Path> inputs = new ArrayList<>(files(rows, 0, 100, 50, 0));
    // The same Events came again later, in another partition, and the first of them twice.
    rows.value(LakeSchema.EVENT_ID, "printf('event-%09d', i - 1000)");
    inputs.addAll(files(rows, 1000, 1010, 10, 1));
    inputs.addAll(files(rows, 1000, 1001, 1, 1));

    ParquetMerge.Merged merged = merge(schema, inputs);

    assertThat(merged.rowsIn()).isEqualTo(111);
    assertThat(merged.rows()).isEqualTo(100);
    assertThat(merged.repeats()).isEqualTo(11);
    assertThat(FilledLake.sql("SELECT max(kafka_partition) FROM %s", read(output())))
        .isEqualTo("0");
  }

  @Test
  void the_same_row_twice_is_kept_once() throws Exception {
    Schema schema = LakeSchema.of(LakeKind.ERROR);
    List<Path> inputs = new ArrayList<>(files(new LakeRows(schema), 0, 10, 10, 0));
    inputs.addAll(files(new LakeRows(schema), 0, 10, 10, 0));

    assertThat(merge(schema, inputs).repeats()).isEqualTo(10);
  }

  @Test
  void rows_are_in_the_order_of_kafka() throws Exception {
    Schema schema = LakeSchema.of(LakeKind.REFUSAL);
    LakeRows rows = new LakeRows(schema);
    List<Path> inputs = new ArrayList<>(files(rows, 5000, 9000, 700, 1));
    inputs.addAll(files(rows, 0, 5000, 900, 0));

    merge(schema, inputs);

    assertThat(
            FilledLake.sql(
                """
                SELECT count(*) FROM (
                  SELECT (kafka_partition, kafka_offset) AS here,
                    lag(here) OVER (ORDER BY file_row_number) AS before
                  FROM read_parquet('%s', file_row_number = true))
                WHERE before > here
                """,
                output().getFirst()))
        .isEqualTo("0");
  }

  @Test
  void files_of_three_versions_become_one() throws Exception {
    Schema newest = LakeSchema.of(LakeKind.RESPONSE);
    // Without a column, and without a part of the generations.
    Schema older =
        newest.select(
            "event_id",
            "event_schema",
            "time",
            "tenant",
            "node",
            "kafka_partition",
            "kafka_offset",
            "output",
            "generations.index",
            "generations.token_ids");
    Schema oldest =
        older.select(
            "event_id",
            "event_schema",
            "time",
            "tenant",
            "node",
            "kafka_partition",
            "kafka_offset",
            "output");
    List<Path> inputs = new ArrayList<>(files(LakeRows.responses(oldest), 0, 10, 5, 0));
    inputs.addAll(
        files(
            LakeRows.responses(older).value("generations", "[{'index': 7, 'token_ids': [i]}]"),
            10,
            20,
            5,
            0));
    inputs.addAll(files(LakeRows.responses(newest), 20, 30, 5, 0));

    ParquetMerge.Merged merged = merge(newest, inputs);

    assertThat(merged.rows()).isEqualTo(30);
    assertThat(
            FilledLake.sql(
                """
                SELECT count(*) FILTER (generations IS NULL),
                  count(*) FILTER (generations[1]['index'] = 7
                    AND generations[1].token_ids = [kafka_offset]
                    AND generations[1].replica IS NULL),
                  count(output), count(session)
                FROM %s
                """,
                read(output())))
        .isEqualTo("10 10 30 7");
  }

  private List<Path> output() {
    return List.of(folder.resolve("merged.parquet"));
  }

  private ParquetMerge.Merged merge(Schema schema, List<Path> inputs) throws SQLException {
    return new ParquetMerge(schema, limits)
        .write(inputs, output().getFirst(), folder.resolve("spill"));
  }

  /** So many rows a file. */
  private List<Path> files(LakeRows rows, long first, long end, int each, int partition) {
    List<Path> files = new ArrayList<>();
    for (long at = first; at < end; at += each) {
      Path file =
          folder.resolve(
              "%s-%d-%d.parquet".formatted(System.identityHashCode(rows), partition, at));
      while (file.toFile().exists()) {
        file = folder.resolve("again-" + file.getFileName());
      }
      rows.write(file, partition, at, Math.min(end, at + each));
      files.add(file);
    }
    return files;
  }

  private static String read(List<Path> files) {
    return "read_parquet([%s])"
        .formatted(String.join(", ", files.stream().map(DuckColumns::literal).toList()));
  }
}
