package firstlight.app;

import firstlight.lake.LakeQuery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code firstlight lake responses}: the newest Responses. */
@Command(
    name = "responses",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Shows Responses, the newest first. Without --since: of the last hour.")
final class LakeResponsesCommand implements Callable<Integer> {
  @Mixin private RangeOptions range = new RangeOptions();

  @Option(names = "--model", description = "Only of this model.")
  private @Nullable String model;

  @Option(names = "--tenant", description = "Only of this tenant.")
  private @Nullable String tenant;

  @Option(names = "--status", description = "completed, incomplete, failed or cancelled.")
  private @Nullable String status;

  @Option(names = "--limit", paramLabel = "N", description = "At most so many. Default: 100.")
  private int limit = 100;

  @Mixin private RowOptions rows = new RowOptions();
  @Mixin private LakeOptions lake = new LakeOptions();

  @Override
  public Integer call() throws Exception {
    List<Object> values = new ArrayList<>();
    StringBuilder sql = new StringBuilder("select time, response_id, tenant, model, status");
    sql.append(", prompt_tokens, cached_tokens, output_tokens, first_token_ms, total_ms");
    sql.append(
        rows.isTable()
            ? ", left(input_messages[-1].text, 40) as input, left(output, 40) as output"
            : ", input_messages, output");
    sql.append(" from responses where true");
    condition(sql, values, "model", model);
    condition(sql, values, "tenant", tenant);
    condition(sql, values, "status", status);
    sql.append(" order by time desc, response_id limit ").append(Math.max(0, limit));
    LakeQuery query = new LakeQuery(sql.toString(), values);
    return lake.run(services -> rows.write(services, query, range.range(Instant.now(), "1h")));
  }

  static void condition(
      StringBuilder sql, List<Object> values, String column, @Nullable String wanted) {
    if (wanted != null) {
      sql.append(" and ").append(column).append(" = ?");
      values.add(wanted);
    }
  }
}
