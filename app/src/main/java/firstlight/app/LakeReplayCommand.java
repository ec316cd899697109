package firstlight.app;

import firstlight.lake.DeadLetterReplay;
import firstlight.lake.DeadLetterReplay.Outcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code firstlight lake replay}: sends dead letters back that are understood by now. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Sends dead letters that this version understands back to the topic of Events,",
      "each once, however often it is run. The others stay."
    })
final class LakeReplayCommand implements Callable<Integer> {
  @Mixin private LakeOptions lake = new LakeOptions();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws Exception {
    return lake.run(this::replay);
  }

  private void replay(LakeServices services) throws IOException {
    Outcome outcome = DeadLetterReplay.run(services.topics());
    PrintWriter out = spec.commandLine().getOut();
    out.printf("%d sent back, %d were before%n", outcome.replayed(), outcome.before());
    new TreeMap<>(outcome.left())
        .forEach((reason, count) -> out.printf("%d stay: %s%n", count, reason));
    out.flush();
  }
}
