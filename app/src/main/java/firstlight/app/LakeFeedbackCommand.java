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

/** {@code firstlight lake feedback}: the newest judgements. */
@Command(
    name = "feedback",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Shows feedback, the newest first. Without --since: of the last hour.")
final class LakeFeedbackCommand implements Callable<Integer> {
  @Mixin private RangeOptions range = new RangeOptions();

  @Option(names = "--tenant", description = "Only of this tenant.")
  private @Nullable String tenant;

  @Option(names = "--name", description = "Only of this name, e.g. helpful.")
  private @Nullable String name;

  @Option(names = "--response", paramLabel = "ID", description = "Only about this Response.")
  private @Nullable String response;

  @Option(names = "--limit", paramLabel = "N", description = "At most so many. Default: 100.")
  private int limit = 100;

  @Mixin private RowOptions rows = new RowOptions();
  @Mixin private LakeOptions lake = new LakeOptions();

  @Override
  public Integer call() throws Exception {
    List<Object> values = new ArrayList<>();
    StringBuilder sql = new StringBuilder("select time, tenant");
    sql.append(", coalesce(response_id, conversation_id, item_id) as about, name, data_type");
    sql.append(", number, text, comment, correction, source from feedback where true");
    LakeResponsesCommand.condition(sql, values, "tenant", tenant);
    LakeResponsesCommand.condition(sql, values, "name", name);
    LakeResponsesCommand.condition(sql, values, "response_id", response);
    sql.append(" order by time desc, event_id limit ").append(Math.max(0, limit));
    LakeQuery query = new LakeQuery(sql.toString(), values);
    return lake.run(services -> rows.write(services, query, range.range(Instant.now(), "1h")));
  }
}
