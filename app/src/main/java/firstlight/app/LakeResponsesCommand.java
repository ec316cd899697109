package firstlight.app;

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
    String texts =
        rows.isTable()
            ? "left(input_messages[-1].text, 40) as input, left(output, 40) as output"
            : "input_messages, output";
    return new NewestRows(
            "select time, response_id, tenant, model, status, prompt_tokens, cached_tokens,"
                + " output_tokens, first_token_ms, total_ms, %s from responses".formatted(texts))
        .where("model", model)
        .where("tenant", tenant)
        .where("status", status)
        .newest("response_id", limit)
        .show(lake, range, rows);
  }
}
