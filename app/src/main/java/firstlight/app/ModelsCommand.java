package firstlight.app;

import firstlight.model.ModelStore;
import firstlight.protocol.Settings;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code firstlight models}: fetches what the configuration names, and says where it lies. */
@Command(
    name = "models",
    mixinStandardHelpOptions = true,
    description = "Fetches the models of the configuration and says where their files lie.")
final class ModelsCommand implements Callable<Integer> {
  @Mixin private ConfigOptions options = new ConfigOptions();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws Exception {
    Settings root =
        Settings.of(ConfigurationFile.read(ConfigurationFile.path(options)), System::getenv);
    var entries = ModelEntry.readAll(root);
    root.problems().throwIfAny();
    PrintWriter out = spec.commandLine().getOut();
    ModelStore store = new ModelStore(ModelFiles.folder());
    for (ModelEntry entry : entries) {
      out.printf("%s  %s%n", entry.name(), ModelFiles.fetch(store, entry, new Progress(out)));
    }
    return 0;
  }
}
