package firstlight.app;

import io.vertx.core.logging.SLF4JLogDelegateFactory;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command line of Firstlight. */
@Command(
    name = "firstlight",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "Serves large language models to coding agents and chat clients.",
    subcommands = {
      UpCommand.class,
      ConfigCommand.class,
      ModelsCommand.class,
      LakeCommand.class,
      ServicesCommand.class
    })
public final class Main implements Runnable {
  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

  private Main() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    logThroughOneDoor();
    System.exit(commandLine().execute(arguments));
  }

  /** Libraries that choose their logging by a property are told to use ours. */
  private static void logThroughOneDoor() {
    System.setProperty("hazelcast.logging.type", "slf4j");
    System.setProperty(
        "vertx.logger-delegate-factory-class-name", SLF4JLogDelegateFactory.class.getName());
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (failure, command, _) -> {
              PrintWriter err = command.getErr();
              err.println("firstlight: " + Reasons.of(failure));
              if (System.getenv("FIRSTLIGHT_DEBUG") != null) {
                failure.printStackTrace(err);
              }
              err.flush();
              return CommandLine.ExitCode.SOFTWARE;
            });
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** The version stands in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"firstlight " + (version == null ? "(from sources)" : version)};
    }
  }
}
