package firstlight.app;

import firstlight.protocol.Settings;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code firstlight config}: checks the configuration and prints what is in force. */
@Command(
    name = "config",
    mixinStandardHelpOptions = true,
    description = "Checks the configuration and prints every setting in force, secrets masked.")
final class ConfigCommand implements Callable<Integer> {
  @Mixin private ConfigOptions options = new ConfigOptions();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws Exception {
    Settings settings =
        Launch.Configured.from(
                ConfigurationFile.read(ConfigurationFile.path(options)), new Overrides())
            .settings();
    settings.effective().forEach(spec.commandLine().getOut()::println);
    return 0;
  }
}
