package firstlight.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.lake.LakeFailure;
import firstlight.lake.LakeStatus;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code firstlight lake status}: what each table holds. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Shows what each table holds, how new it is, and which records of Kafka are in it.")
final class LakeStatusCommand implements Callable<Integer> {
  /** How it is written. */
  enum Format {
    TABLE,
    JSON
  }

  private static final String ROW = "%-11s %12s %7s %11s %7s  %-24s %10s  %s%n";

  @Option(names = "--format", description = "table or json. Default: table.")
  private Format format = Format.TABLE;

  @Mixin private LakeOptions lake = new LakeOptions();

  @Override
  public Integer call() throws Exception {
    return lake.run(this::show);
  }

  private void show(LakeServices services) throws IOException {
    List<LakeStatus> tables;
    try {
      tables = LakeStatus.of(services.catalog());
    } catch (RuntimeException e) {
      throw LakeFailure.of(e, services.catalog().config());
    }
    Instant now = Instant.now();
    try (LakeOutput out = new LakeOutput(null)) {
      if (format == Format.JSON) {
        json(tables, now, out.writer());
      } else {
        table(tables, now, out.writer());
      }
      out.complete();
    }
  }

  private static void table(List<LakeStatus> tables, Instant now, Writer out) throws IOException {
    out.write(
        ROW.formatted("table", "rows", "files", "KiB", "small", "newest", "age s", "snapshot"));
    for (LakeStatus each : tables) {
      out.write(
          ROW.formatted(
              each.kind().table(),
              each.rows(),
              each.files(),
              (each.bytes() + 1023) >> 10,
              each.smallFiles(),
              each.newest().map(Instant::toString).orElse("-"),
              each.newest().map(time -> "" + age(time, now)).orElse("-"),
              each.snapshot().map(String::valueOf).orElse("-")));
    }
    for (LakeStatus each : tables) {
      for (var batch : each.offsets().batches().entrySet()) {
        out.write(
            "%s: %s up to offset %d%n"
                .formatted(each.kind().table(), batch.getKey(), batch.getValue().next() - 1));
      }
    }
  }

  private static long age(Instant time, Instant now) {
    return Duration.between(time, now).toSeconds();
  }

  private static void json(List<LakeStatus> tables, Instant now, Writer out) throws IOException {
    ObjectMapper json = new ObjectMapper();
    ArrayNode all = json.createArrayNode();
    for (LakeStatus each : tables) {
      ObjectNode table = all.addObject();
      table.put("table", each.kind().table());
      table.put("rows", each.rows());
      table.put("files", each.files());
      table.put("bytes", each.bytes());
      table.put("small_files", each.smallFiles());
      table.put("newest", each.newest().map(Instant::toString).orElse(null));
      table.put("newest_age_s", each.newest().map(time -> age(time, now)).orElse(null));
      table.put("snapshot", each.snapshot().orElse(null));
      table.set("offsets", json.valueToTree(each.offsets().batches()));
    }
    out.write(json.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
  }
}
