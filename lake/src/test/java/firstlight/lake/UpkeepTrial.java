package firstlight.lake;

import firstlight.lake.LakeOffsets.Batch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Table;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Measures what it takes to merge many small files. Not a test.
 *
 * <p>Arguments: how many files, rows a file, tokens a row. Start it in a JVM with a small heap, of
 * which DuckDB's memory is no part.
 */
public final class UpkeepTrial {
  private UpkeepTrial() {}

  public static void main(String[] arguments) throws Exception {
    int files = Integer.parseInt(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    int tokens = Integer.parseInt(arguments[2]);
    Path folder = Files.createTempDirectory("upkeep-trial");
    try (EmbeddedLake services = new EmbeddedLake(folder.resolve("services"))) {
      LakeConfig config = FilledLake.config(services.config("trial"), folder);
      try (S3Client client = LakeS3.client(config.s3())) {
        LakeS3.prepare(client, config.s3());
      }
      try (FilledLake lake = new FilledLake(config, folder)) {
        fill(lake, files, rows, tokens);
        measure(lake);
      }
    } finally {
      Folders.delete(folder);
    }
  }

  private static void fill(FilledLake lake, int files, int rows, int tokens) {
    Table table = lake.catalog.table(LakeKind.RESPONSE);
    LakeRows content = LakeRows.responses(table.schema()).value("generations", generations(tokens));
    List<LakeFile> all = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      long first = (long) i * rows;
      all.add(lake.upload(LakeKind.RESPONSE, content, i % 4, first, first + rows, FilledLake.DAY));
    }
    Batch batch = new Batch(0, (long) files * rows);
    lake.commits.append(LakeKind.RESPONSE, FilledLake.TOPIC, 0, batch, all);
  }

  private static String generations(int tokens) {
    return """
    [{'index': 0,
      'token_ids': [(hash(i * 1000 + k) %% 32000)::BIGINT FOR k IN range(%1$d)],
      'token_logprobs': [-(hash(i * 1000 + k) %% 1000) / 1000.0 FOR k IN range(%1$d)],
      'token_micros': [(hash(i * 77 + k) %% 30000)::BIGINT FOR k IN range(%1$d)]}]
    """
        .formatted(tokens);
  }

  private static void measure(FilledLake lake) throws Exception {
    Table table = lake.table(LakeKind.RESPONSE);
    System.out.printf("before: %s, peak memory %d MiB%n", size(table), peakMemory());
    // What filling took is not the upkeep's.
    Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    long begun = System.nanoTime();
    UpkeepReport report = lake.upkeep(new SimpleMeterRegistry()).run().orElseThrow();
    long millis = (System.nanoTime() - begun) / 1_000_000;
    table.refresh();
    System.out.printf("after: %s, peak memory %d MiB%n", size(table), peakMemory());
    System.out.printf("%d ms: %s%n", millis, report);
  }

  private static String size(Table table) {
    List<DataFile> files = LakeFiles.of(table);
    return "%d files, %d rows, %d KiB"
        .formatted(
            files.size(),
            files.stream().mapToLong(DataFile::recordCount).sum(),
            files.stream().mapToLong(DataFile::fileSizeInBytes).sum() >> 10);
  }

  /** Of the whole process, resident, in MiB. */
  private static long peakMemory() throws Exception {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmHWM"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
        .findFirst()
        .orElse(0);
  }
}
