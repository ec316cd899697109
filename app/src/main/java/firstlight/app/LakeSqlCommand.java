package firstlight.app;

import firstlight.lake.LakeQuery;
import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code firstlight lake sql}: any question in DuckDB's SQL. */
@Command(
    name = "sql",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Answers a question in DuckDB's SQL. The views are responses, feedback,",
      "tool_calls, errors and refusals. Without a question it reads one from",
      "the standard input."
    })
final class LakeSqlCommand implements Callable<Integer> {
  private static final int QUESTION_BYTES_MAX = 1 << 20;

  @Parameters(
      arity = "0..1",
      paramLabel = "SQL",
      description = "e.g. \"select model, count(*) from responses group by model\"")
  private @Nullable String sql;

  @Option(names = "--file", paramLabel = "FILE", description = "Read the question from a file.")
  private @Nullable Path file;

  @Mixin private RangeOptions range = new RangeOptions();
  @Mixin private RowOptions rows = new RowOptions();
  @Mixin private LakeOptions lake = new LakeOptions();

  @Override
  public Integer call() throws Exception {
    LakeQuery query = new LakeQuery(question());
    return lake.run(services -> rows.write(services, query, range.range(Instant.now(), null)));
  }

  private String question() throws IOException {
    if (sql != null && file != null) {
      throw new StartFailure("give the question or --file, not both");
    }
    if (sql != null) {
      return sql;
    }
    byte[] bytes;
    if (file != null) {
      bytes = Files.readAllBytes(file);
    } else {
      Console console = System.console();
      if (console != null && console.isTerminal()) {
        System.err.println("firstlight: reading the question; end it with Ctrl-D");
      }
      bytes = System.in.readNBytes(QUESTION_BYTES_MAX + 1);
    }
    if (bytes.length > QUESTION_BYTES_MAX) {
      throw new StartFailure("a question has at most 1 MiB");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
