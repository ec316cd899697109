package firstlight.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line of the benchmarks. */
@Command(
    name = "firstlight bench",
    mixinStandardHelpOptions = true,
    description = "Measures Firstlight beside llama.cpp, on the same files and cores, in turn.",
    subcommands = {
      AllCommand.class,
      PeerCommand.class,
      EngineCommand.class,
      ServerCommand.class,
      OverloadCommand.class,
      FloodCommand.class,
      EventsCommand.class,
      LookupsCommand.class,
      KernelsCommand.class,
      MasksCommand.class
    })
public final class BenchMain implements Runnable {
  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

  private BenchMain() {}

  /** Runs a benchmark and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    Child.endAllWithThis();
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new BenchMain())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (failure, command, _) -> {
              if (failure instanceof BenchFailure) {
                command.getErr().println("firstlight bench: " + failure.getMessage());
              } else {
                failure.printStackTrace(command.getErr());
              }
              return CommandLine.ExitCode.SOFTWARE;
            });
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
