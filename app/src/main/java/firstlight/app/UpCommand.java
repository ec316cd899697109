package firstlight.app;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code firstlight up}: the whole system, or one node of a mesh. */
@Command(
    name = "up",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Starts the whole system, or one node of a mesh, and serves until it is stopped.",
      "Without options that is everything on this machine, for this machine only."
    })
final class UpCommand implements Callable<Integer> {
  @Mixin private ConfigOptions options = new ConfigOptions();

  @Option(
      names = "--roles",
      split = ",",
      paramLabel = "ROLE",
      description = "What this node does: gpu, batcher, session, feedback, edge. Default: all.")
  private @Nullable List<String> roles;

  @Option(
      names = "--instances",
      split = ",",
      paramLabel = "ROLE=N",
      description = {
        "Verticle instances of a role, e.g. edge=2,session=2. Default: 1 of each,",
        "but of gpu and batcher, which are for each model, one for each device."
      })
  private Map<String, Integer> instances = new LinkedHashMap<>();

  @Option(names = "--port", description = "Port of the HTTP interface. Default: 8080.")
  private @Nullable Integer port;

  @Option(names = "--device", description = "What computes: auto, cpu or cuda. Default: auto.")
  private @Nullable String device;

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "Where the embedded services keep their data. Default: data.")
  private @Nullable Path data;

  @Option(
      names = "--cluster",
      description = "Join a mesh. A node that has only some of the roles always does.")
  private boolean cluster;

  @Override
  public Integer call() throws Exception {
    Overrides overrides = new Overrides();
    if (roles != null) {
      overrides.put("node.roles", roles);
    }
    instances.forEach((role, count) -> overrides.put("node.instances." + role, count));
    overrides.putIfGiven("edge.port", port);
    overrides.putIfGiven("gpu.device", device);
    overrides.putIfGiven("node.data", data);
    if (cluster) {
      overrides.put("cluster.enabled", true);
    }
    return Launch.run(options, overrides);
  }
}
