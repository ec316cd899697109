package firstlight.app;

import firstlight.lake.LakeKind;
import firstlight.lake.LakeQuery;
import firstlight.lake.LakeReader;
import firstlight.lake.RowFormat;
import firstlight.lake.TimeRange;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How rows are written, and where to. */
final class RowOptions {
  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "table, csv, json, jsonl or parquet. Default: table.")
  private RowFormat format = RowFormat.TABLE;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Write to a file, which is there once it is complete.")
  private @Nullable Path output;

  boolean isTable() {
    return format == RowFormat.TABLE;
  }

  /** Asks one question about one range of time and writes the rows. */
  void write(LakeServices lake, LakeQuery query, TimeRange range) throws Exception {
    if (format == RowFormat.PARQUET && output == null) {
      throw new StartFailure("parquet needs a file. Name one with --output.");
    }
    Map<LakeKind, TimeRange> wanted = new EnumMap<>(LakeKind.class);
    query.kinds().forEach(kind -> wanted.put(kind, range));
    try (LakeOutput out = new LakeOutput(output);
        LakeReader reader = lake.reader(wanted, out.part())) {
      if (format == RowFormat.PARQUET) {
        query.writeParquet(reader, out.part().orElseThrow());
      } else {
        query.write(reader, format, out.writer());
      }
      out.complete();
    }
  }
}
