package firstlight.app;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code firstlight lake}: what was served, asked and judged. */
@Command(
    name = "lake",
    mixinStandardHelpOptions = true,
    description = {
      "Answers questions about what was served, asked and judged.",
      "It reads the lake of the running node, or of the data folder when none runs."
    },
    subcommands = {
      LakeSqlCommand.class,
      LakeResponsesCommand.class,
      LakeFeedbackCommand.class,
      LakeStatusCommand.class,
      LakeExportCommand.class,
      LakeCompactCommand.class,
      LakeReplayCommand.class
    })
final class LakeCommand implements Runnable {
  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
