package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.lake.LakeFile.Bounds;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeSchema;
import firstlight.protocol.wire.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.iceberg.Schema;
import org.apache.parquet.schema.MessageType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ParquetFileWriterTest {
  @TempDir private Path folder;

  @Test
  void the_same_rows_give_the_same_bytes_and_digest() throws IOException {
    ParquetFileWriter.Finished first = write("a.parquet", responses(0, 100));
    ParquetFileWriter.Finished second = write("b.parquet", responses(0, 100));

    assertThat(second.digest()).isEqualTo(first.digest());
    assertThat(Files.mismatch(first.path(), second.path())).isEqualTo(-1);
  }

  @Test
  void other_rows_have_another_digest() throws IOException {
    assertThat(write("a.parquet", responses(0, 100)).digest())
        .isNotEqualTo(write("b.parquet", responses(1, 100)).digest());
  }

  @Test
  void a_file_says_what_it_holds_and_ends_as_parquet_does() throws IOException {
    ParquetFileWriter.Finished file = write("a.parquet", responses(0, 100));

    assertThat(ParquetFileWriter.digestOf(file.path())).isEqualTo(file.digest());
    byte[] bytes = Files.readAllBytes(file.path());
    assertThat(Arrays.copyOfRange(bytes, bytes.length - 4, bytes.length))
        .containsExactly('P', 'A', 'R', '1');
    assertThat(file.bytes()).isEqualTo(bytes.length);
    assertThat(file.rows()).isEqualTo(100);
    assertThat(file.offsets()).isEqualTo(new Bounds(0, 99));
    assertThat(file.times())
        .isEqualTo(new Bounds(TestEvents.NOON * 1000, (TestEvents.NOON + 99) * 1000));
  }

  @Test
  void a_cut_file_is_told_from_a_whole_one() throws IOException {
    byte[] bytes = Files.readAllBytes(write("a.parquet", responses(0, 10)).path());
    for (int length : new int[] {0, 4, 7, 100, bytes.length - 1}) {
      Path cut = folder.resolve("cut.parquet");
      Files.write(cut, Arrays.copyOf(bytes, length));

      assertThatThrownBy(() -> ParquetFileWriter.digestOf(cut))
          .as("%d bytes", length)
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void columns_have_the_ids_of_the_table() {
    Schema table = LakeSchema.of(LakeKind.RESPONSE);
    MessageType layout = LakeSchema.parquet(table, "response");

    assertThat(layout.getType("time").toString())
        .isEqualTo(
            "optional int64 time (TIMESTAMP(MICROS,true)) = " + table.findField("time").fieldId());
    assertThat(layout.getType("generations", "list", "element", "token_ids", "list", "element"))
        .asString()
        .isEqualTo(
            "required int64 element = "
                + table.findField("generations.element.token_ids.element").fieldId());
  }

  private ParquetFileWriter.Finished write(String name, List<Event> events) throws IOException {
    ParquetFileWriter writer =
        new ParquetFileWriter(
            new LakeFolder(LakeKind.RESPONSE, LocalDate.of(2026, 11, 29)),
            folder.resolve(name),
            LakeSchema.of(LakeKind.RESPONSE),
            1 << 20);
    for (int i = 0; i < events.size(); i++) {
      writer.write(new LakeRow(events.get(i), 0, i));
    }
    return writer.finish();
  }

  private static List<Event> responses(int first, int count) {
    return IntStream.range(first, first + count).mapToObj(TestEvents::response).toList();
  }
}
