package firstlight.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code bench all}: everything, one after the other. */
@Command(
    name = "all",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Gets llama.cpp and runs all benchmarks, one after the other: about an hour.")
final class AllCommand implements Callable<Integer> {
  @Mixin private BenchOptions options = new BenchOptions();
  @Mixin private PeerOptions peers = new PeerOptions();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    int worst = run("peer", peers.arguments());
    if (worst != 0) {
      return worst;
    }
    List<String> compared = new ArrayList<>(options.arguments());
    compared.addAll(peers.arguments());
    if (peers.hasEngine()) {
      worst = Math.max(worst, run("engine", compared));
    }
    worst = Math.max(worst, run("server", compared));
    for (String alone : List.of("overload", "flood", "kernels", "masks")) {
      worst = Math.max(worst, run(alone, options.arguments()));
    }
    return worst;
  }

  private int run(String benchmark, List<String> arguments) {
    options.progress.say("%s", benchmark);
    List<String> line = new ArrayList<>(List.of(benchmark));
    line.addAll(arguments);
    CommandLine parent = spec.commandLine().getParent();
    return parent.execute(line.toArray(String[]::new));
  }
}
