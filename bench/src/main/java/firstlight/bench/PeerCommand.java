package firstlight.bench;

import firstlight.protocol.Time;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code bench peer}: gets llama.cpp, so that the other benchmarks need not wait for it. */
@Command(
    name = "peer",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Gets llama.cpp onto this machine, unless it is there, and says where it lies.")
final class PeerCommand implements Callable<Integer> {
  @Mixin private PeerOptions options = new PeerOptions();

  @Override
  public Integer call() {
    Progress progress = new Progress(System.err, Time.system());
    System.out.println(String.join(" ", PeerInstall.serverCommand(options, progress)));
    return 0;
  }
}
