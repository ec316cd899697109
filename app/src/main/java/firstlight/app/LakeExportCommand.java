package firstlight.app;

import firstlight.lake.LakeReader;
import firstlight.lake.TrainingExport;
import firstlight.lake.TrainingExport.Report;
import firstlight.lake.TrainingExport.Request;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code firstlight lake export}: Responses and their feedback, as training wants them. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Writes JSON Lines for training, built from Responses joined with their feedback.",
      "How many were left out, and why, stands on the standard error."
    })
final class LakeExportCommand implements Callable<Integer> {
  @Option(
      names = "--format",
      required = true,
      description = "sft: messages with the wanted answer. preference: chosen beside rejected.")
  private TrainingExport.@Nullable Format format;

  @Mixin private RangeOptions range = new RangeOptions();

  @Option(names = "--tenant", description = "Only of this tenant.")
  private @Nullable String tenant;

  @Option(
      names = "--min-score",
      paramLabel = "NUMBER",
      description = "A numeric feedback is good from here on. Default: above 0.")
  private @Nullable Double minScore;

  @Option(names = "--name", description = "Only feedback of this name counts.")
  private @Nullable String name;

  @Option(names = "--all", description = "With sft: whatever was judged, or not.")
  private boolean all;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Write to a file, which is there once it is complete.")
  private @Nullable Path output;

  @Mixin private LakeOptions lake = new LakeOptions();

  @Override
  public Integer call() throws Exception {
    Request request =
        new Request(
            Optional.ofNullable(format).orElseThrow(),
            range.range(Instant.now(), null),
            Optional.ofNullable(tenant),
            minScore == null ? OptionalDouble.empty() : OptionalDouble.of(minScore),
            Optional.ofNullable(name),
            all);
    return lake.run(services -> write(services, request));
  }

  private void write(LakeServices services, Request request) throws Exception {
    try (LakeOutput out = new LakeOutput(output);
        LakeReader reader = services.reader(request.tables(), Optional.empty())) {
      Report report = TrainingExport.write(reader, request, out.writer());
      out.complete();
      System.err.printf("%d written%n", report.written());
      report.leftOut().entrySet().stream()
          .sorted(Map.Entry.comparingByKey())
          .forEach(each -> System.err.printf("%d left out: %s%n", each.getValue(), each.getKey()));
    }
  }
}
