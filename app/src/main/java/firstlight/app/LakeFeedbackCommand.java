package firstlight.app;

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
    return new NewestRows(
            "select time, tenant, coalesce(response_id, conversation_id, item_id) as about,"
                + " name, data_type, number, text, comment, correction, source from feedback")
        .where("tenant", tenant)
        .where("name", name)
        .where("response_id", response)
        .newest("event_id", limit)
        .show(lake, range, rows);
  }
}
